package seams

// Corpus holds the sequences that every search plays first. Each once showed a defect, or covers a promise that random
// steps rarely reach.
var Corpus = map[Kind][]string{
	Calm: {
		// Messages before the first run, to a running agent, and at its end.
		"create A 2; message A at-once; agent-ends A",
		"create A; message A; agent-ends A",
		"create A; message A beside; agent-ends A",
		"create A; message A; agent-ends A 11 at-once",
		"create A; message A beside; agent-ends A 11",
		// Messages at the same time as a question, an answer, a deadline.
		"create A; agent-ends A 2; message A beside; answer A",
		"create A; agent-ends A 4; message A beside; expire A; late-answer A",
		"create A; agent-asks A; answer A beside; agent-ends A",
		// A person resumes without an answer.
		"create A; agent-ends A 2; resume A 1; agent-ends A",
		"create A; agent-ends A 11; resume A",
		"create A; agent-asks A; resume A; agent-ends A 9",
		// Stops.
		"create A; agent-deaf A; cancel A; agent-looks A at-once; late-gate A",
		"create A; agent-child A; pause A; message A; late-gate A; resume A",
		"create A; agent-deaf A; pause A; cancel A at-once; reopen A",
		"create A; agent-asks A; pause A; answer A; resume A; agent-ends A",
		"create A; agent-gates A; agent-ends A 9; answer A; agent-gates A; agent-gates A",
		// Answers that are taken back.
		"create A; agent-ends A 2; answer-to-undo A; undo A; answer A",
		"create A; agent-ends A 2; answer-to-undo A; message A; agent-ends A",
		// Two people approve.
		"create A; agent-ends A 7; answer A; answer A 1",
	},
	Rough: {
		"create A; message A beside; kill-worker; start-worker; agent-ends A",
		"create A; agent-ends A 2; answer A beside; kill-server; agent-ends A",
		"create A; pause A; kill-worker; message A; start-worker; resume A",
		"create A; agent-asks A; kill-worker; answer A; start-worker; agent-ends A",
		"create A; message A; stop-worker; message A 1; start-worker; agent-ends A",
	},
	Real: {
		"create A 2; message A at-once; claude-ends A",
		"create A; message A; claude-ends A",
		"create A; claude-asks-user-question A; clarify A; claude-ends A",
		"create A; claude-asks-user-question A; resume A 1; claude-ends A",
		"create A; pause A; message A; resume A; claude-ends A",
		"create A; claude-runs A; answer A; cancel A; late-gate A",
	}, RealRough: {
		"create A; message A beside; kill-worker; start-worker; claude-ends A",
		"create A; claude-asks-user-question A; kill-worker; answer A; start-worker; claude-ends A",
		"create A; claude-asks-user-question A; answer A beside; kill-server; claude-ends A",
		"create A; claude-runs A; stop-worker; answer A; start-worker; claude-ends A",
		"create A; pause A; kill-worker; message A; start-worker; resume A; claude-ends A",
	},
}
