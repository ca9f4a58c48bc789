// Package delivery brings questions to the people who may answer them. It
// decides which people are told about which question, when and where. It also
// handles the messages that come back.
//
// There is no separate queue: a delivery row is the job. The planner follows
// the events of a workspace by a cursor. In one write it adds the rows and
// moves the cursor on. So asking and answering do none of this work, and no
// accepted question is lost. A sender for each channel claims the rows that are
// due, and checks again whether they are still needed. It sends outside any
// transaction, and records the outcome. When a question closes, every message
// that was sent for it is updated in the same way.
//
// Any number of processes may run the service on one database.
package delivery
