// Package audit holds the commands that read the record of what happened: events, the audit and signed receipts.
package audit
