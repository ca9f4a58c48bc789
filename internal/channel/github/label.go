package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// label is a label in GitHub's form.
type label struct {
	Name string `json:"name"`
}

// labelIssue is the issue that was labelled. PullRequest is set if it is a pull
// request.
type labelIssue struct {
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	HTMLURL     string    `json:"html_url"`
	UpdatedAt   time.Time `json:"updated_at"`
	PullRequest *struct{} `json:"pull_request"`
}

// issueEvent is an entry of GitHub's list of issue events.
type issueEvent struct {
	ID        int64      `json:"id"`
	Event     string     `json:"event"`
	Actor     Account    `json:"actor"`
	Label     label      `json:"label"`
	CreatedAt time.Time  `json:"created_at"`
	Issue     labelIssue `json:"issue"`
}

// labelling is a label that a person or a program added to an issue.
type labelling struct {
	// key is the same for the webhook and the list, so a label counts once.
	key        string
	repository string
	actor      Account
	label      string
	issue      labelIssue
	at         time.Time
}

// longestTitle is how many characters of an issue's title are stored.
const longestTitle = 300

// reportLabel reports a label to the server. It skips labels that the channel's own account added: otherwise a workflow
// could start itself.
func (c *Channel) reportLabel(ctx context.Context, hear notice.InboundHandler, l *labelling) error {
	self, err := c.client.Self(ctx)
	if err != nil || self.ID == l.actor.ID {
		return err
	}
	_, err = hear(ctx, &notice.Inbound{ID: l.key, At: l.at, RemoteEvent: &notice.RemoteEvent{
		Type: fermata.EventLabelAdded, By: l.actor.identity(),
		Data: map[string]any{
			"repository": l.repository, "issue": l.issue.Number, "label": l.label, "actor": l.actor.Login, "title": fermata.Truncate(l.issue.Title, longestTitle), "url": l.issue.HTMLURL,
		},
	}})
	return err
}

// identity returns the account in the form in which the server knows people.
func (a Account) identity() notice.Identity {
	return notice.Identity{Kind: Kind, ID: fmt.Sprint(a.ID), Name: a.Login}
}

// handleLabel processes the webhook of a label. If the channel also polls, it finds the same label in GitHub's list. So
// the webhook uses the number of the list entry, too, and the label counts once.
func (c *Channel) handleLabel(ctx context.Context, hear notice.InboundHandler, id string, e *event) (int, string) {
	if ignored := c.labelIgnoreReason(e); ignored != "" {
		return http.StatusOK, "ignored: " + ignored
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookTime)
	defer cancel()
	repository, listed := c.settings.spellRepository(e.Repository.FullName)
	one := &labelling{
		key: "delivery/" + id, repository: repository, actor: e.Sender, label: e.Label.Name, issue: e.Issue, at: e.Issue.UpdatedAt,
	}
	var err error
	if listed && c.pollInterval > 0 {
		err = c.reportListedLabel(ctx, hear, one)
	} else {
		err = c.reportLabel(ctx, hear, one)
	}
	return c.finishDelivery(ctx, id, err, "issue", e.Issue.Number)
}

// labelIgnoreReason returns why an event is not a new label on an issue of this channel, or "" if it is one.
func (c *Channel) labelIgnoreReason(e *event) string {
	_, _, named := cutRepository(e.Repository.FullName)
	switch {
	case e.Action != "labeled":
		return "of issues, only added labels are heard"
	case e.Issue.Number <= 0 || e.Label.Name == "" || e.Sender.ID <= 0 || !named:
		return "it names no issue, no label or nobody who added it"
	case e.Issue.PullRequest != nil:
		return "it is a pull request"
	}
	return c.placeIgnoreReason(e, "the label", e.Issue.UpdatedAt)
}

const (
	// listLag is the pause between two reads of GitHub's list, which may lag behind a webhook.
	listLag = time.Second
	// maxListReads is how many times the list is read for one webhook.
	maxListReads = 4
)

// reportListedLabel reports a label under the number of its entry in GitHub's list.
func (c *Channel) reportListedLabel(ctx context.Context, hear notice.InboundHandler, l *labelling) error {
	for range maxListReads {
		var page []issueEvent
		_, _, err := (&etagCache{}).get(ctx, c.client, eventsPath(l.repository, 1), &page)
		if err != nil {
			return apiFailure("read what happened to issues in "+l.repository, err)
		}
		found := false
		for _, one := range slices.Backward(page) {
			if one.Issue.Number != l.issue.Number || !strings.EqualFold(one.Label.Name, l.label) || !one.isNewLabel() {
				continue
			}
			found = true
			if err := c.reportLabel(ctx, hear, one.labelling(l.repository)); err != nil {
				return err
			}
		}
		if found {
			return nil
		}
		timer := time.NewTimer(listLag)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
	return fermata.Errorf(fermata.CodeUnavailable, "GitHub's list of what happened in %s does not have it yet", l.repository)
}

// isNewLabel reports whether the entry is a label that was added to an issue
// recently.
func (e *issueEvent) isNewLabel() bool {
	return e.Event == "labeled" && e.ID > 0 && e.Issue.Number > 0 && e.Label.Name != "" && e.Issue.PullRequest == nil && time.Since(e.CreatedAt) <= oldestEvent
}

func (e *issueEvent) labelling(repository string) *labelling {
	return &labelling{
		key: fmt.Sprintf("event/%d", e.ID), repository: repository, actor: e.Actor, label: e.Label.Name, issue: e.Issue, at: e.CreatedAt,
	}
}

// eventsPath returns the path of GitHub's list of issue events, newest first.
func eventsPath(repository string, page int) string {
	return fmt.Sprintf("repos/%s/issues/events?per_page=%d&page=%d", repository, perPage, page)
}

// labelPoller reads the labels of one repository.
type labelPoller struct {
	c          *Channel
	hear       notice.InboundHandler
	repository string
	seen       etagCache
	// hasStoredPosition reports whether the position from which labels are read is stored.
	hasStoredPosition bool
}

func (p *labelPoller) key() string { return "labels/" + p.repository }

// pollOnce reports every new label, the oldest first.
func (p *labelPoller) pollOnce(ctx context.Context) error {
	pos, err := p.c.loadPosition(ctx, p.key())
	if err != nil {
		return err
	}
	fresh, err := p.fetch(ctx, pos)
	if err != nil || len(fresh) == 0 && p.hasStoredPosition {
		return err
	}
	for _, one := range slices.Backward(fresh) {
		if one.isNewLabel() {
			if err := p.c.reportLabel(ctx, p.hear, one.labelling(p.repository)); err != nil {
				// The next round reads all of them again.
				p.seen = etagCache{}
				return err
			}
		}
		pos.Seen[one.ID] = one.CreatedAt
		if one.CreatedAt.After(pos.Since) {
			pos.Since = one.CreatedAt
		}
	}
	pos.markRead()
	err = p.c.savePosition(ctx, p.key(), pos)
	p.hasStoredPosition = err == nil
	return err
}

// fetch returns the entries that were not seen yet, the newest first.
func (p *labelPoller) fetch(ctx context.Context, pos *position) ([]issueEvent, error) {
	oldest := pos.Done.Add(-overlap)
	var fresh []issueEvent
	rest := &etagCache{}
	for n := 1; n <= maxPages; n++ {
		look := rest
		if n == 1 {
			look = &p.seen
		}
		var page []issueEvent
		resp, changed, err := look.get(ctx, p.c.client, eventsPath(p.repository, n), &page)
		if err != nil {
			p.seen = etagCache{}
			return nil, apiFailure("read what happened to issues in "+p.repository, err)
		}
		if !changed {
			return nil, nil
		}
		for _, one := range page {
			if one.CreatedAt.Before(oldest) {
				return fresh, nil
			}
			if _, known := pos.Seen[one.ID]; !known {
				fresh = append(fresh, one)
			}
		}
		if resp.NextPage == 0 {
			break
		}
	}
	return fresh, nil
}
