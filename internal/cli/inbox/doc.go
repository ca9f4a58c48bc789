// Package inbox is the full-screen inbox, in which people read and answer questions live.
package inbox
