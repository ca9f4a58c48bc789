package fermata

import "time"

// InboxSection is a part of the inbox. A question belongs to the first section that fits it.
type InboxSection string

// Sections of the inbox, in their order.
const (
	// SectionDueSoon holds the questions whose deadline passes within [DueSoon].
	SectionDueSoon InboxSection = "due_soon"
	// SectionHighRisk holds the questions of high and of critical risk.
	SectionHighRisk InboxSection = "high_risk"
	// SectionLongWait holds the questions that have waited for longer than [LongWait].
	SectionLongWait InboxSection = "long_wait"
	// SectionRest holds all others.
	SectionRest InboxSection = "rest"
)

// InboxSections are all sections in their order.
var InboxSections = []InboxSection{SectionDueSoon, SectionHighRisk, SectionLongWait, SectionRest}

const (
	// DueSoon is how long before its deadline a question moves to [SectionDueSoon].
	DueSoon = time.Hour
	// LongWait is how long after it was asked a question moves to [SectionLongWait].
	LongWait = 24 * time.Hour
)
