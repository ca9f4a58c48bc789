package store

import (
	"encoding/json"
	"time"
)

// InboundVerdict returns the verdict on an incoming message of a channel, or
// nil if the message was not handled yet.
func (r Reader) InboundVerdict(channelID, id string) (json.RawMessage, error) {
	found, err := list(r, scanString, "SELECT verdict FROM inbound WHERE workspace_id = $1 AND channel_id = $2 AND id = $3",
		r.workspace, channelID, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return json.RawMessage(found[0]), nil
}

// SaveInboundVerdict stores the verdict on a message. An earlier verdict on the
// same message stays.
func (tx *Tx) SaveInboundVerdict(channelID, id string, verdict json.RawMessage) {
	tx.execAny(`INSERT INTO inbound (workspace_id, channel_id, id, verdict, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (workspace_id, channel_id, id) DO NOTHING`, tx.workspace, channelID, id, string(verdict), tx.Now().UnixMilli())
}

// DeleteInboundVerdicts deletes the verdicts up to an instant, in every workspace.
func (tx *Tx) DeleteInboundVerdicts(before time.Time) {
	tx.execAny("DELETE FROM inbound WHERE at <= $1", before.UnixMilli())
}

// MembersWithOpenPage returns the ids of the members who have a page open at another
// process.
func (r Reader) MembersWithOpenPage(process string, now time.Time) ([]string, error) {
	lists, err := list(r, scanString, "SELECT members FROM open_pages WHERE workspace_id = $1 AND process <> $2 AND until_at > $3",
		r.workspace, process, now.UnixMilli())
	var all []string
	for _, stored := range lists {
		var members []string
		if err := parseColumn("members", stored, &members); err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, err
}

// SetOpenPages records which members have a page open at a process, and deletes
// expired records of all processes.
func (tx *Tx) SetOpenPages(process string, members []string, until time.Time) {
	tx.execAny("DELETE FROM open_pages WHERE until_at <= $1", tx.Now().UnixMilli())
	tx.exec(`INSERT INTO open_pages (process, workspace_id, members, until_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, process) DO UPDATE SET members = excluded.members, until_at = excluded.until_at`,
		process, tx.workspace, columnText(members), until.UnixMilli())
}
