package fermata

import "time"

// InboxSection is a part of the inbox. A question belongs to the first section that fits it.
type InboxSection string

// Sections of the inbox, in their order.
const (
	// SectionDueSoon holds the questions whose deadline passes within [DueSoon].
	SectionDueSoon InboxSection = "due_soon"
	// SectionHighRisk holds the questions of critical risk, then those of high risk.
	SectionHighRisk InboxSection = "high_risk"
	// SectionLongWait holds the questions that have waited for longer than [LongWait].
	SectionLongWait InboxSection = "long_wait"
	// SectionRest holds all others.
	SectionRest InboxSection = "rest"
)

// InboxSections are all sections in their order.
var InboxSections = []InboxSection{SectionDueSoon, SectionHighRisk, SectionLongWait, SectionRest}

// SortInbox is the order of a list of pending questions by [InboxSections].
const SortInbox = "inbox"

const (
	// DueSoon is how long before its deadline a question moves to [SectionDueSoon]. It is half of the usual time to answer, so
	// that a question without anything special begins in the rest.
	DueSoon = 15 * time.Minute
	// LongWait is how long after it was asked a question moves to [SectionLongWait].
	LongWait = 24 * time.Hour
)
