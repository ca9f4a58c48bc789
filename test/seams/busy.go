//go:build !lab

package seams

import "time"

// busy is added to what is promised. A run of the gate judges by what happens, not by how fast its machine is; the lab
// adds less. Every mend whose absence is to be found costs more when it is taken out.
const busy = 9 * time.Second
