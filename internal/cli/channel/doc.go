// Package channel holds the commands about the channels over which questions reach people, and about deliveries.
package channel
