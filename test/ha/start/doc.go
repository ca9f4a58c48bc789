// Command start runs the large deployment of deploy/ha on this machine until it is interrupted. It is what `make ha`
// runs.
package main
