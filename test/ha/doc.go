// Package ha tests the large deployment of deploy/ha under load. Its tests are labs: they need scripts/setup ha, and
// run with -tags lab. While machines die, freeze and change their roles, no acknowledged answer is lost, no task is
// resumed twice, streams have no gap, and writes go on.
package ha
