// Package delivery brings questions to the people who may answer them: who
// hears of what, when and where, and what becomes of what comes back.
//
// There is no queue beside the rows: a delivery is the job. The planner follows
// the events of a workspace by a cursor, and in one write adds the rows and
// moves the cursor on, so that asking and answering carry nothing of it, and
// nothing accepted is lost. A sender for each channel claims the rows whose
// time has come, looks once more whether they are still needed, sends outside
// of any transaction, and records what became of it. When a question closes,
// every message that was sent for it is brought up to date in the same way.
//
// Any number of processes may run it on one database.
package delivery
