package slack

import (
	"context"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// repairDelay is the time after the end of a question in which the regular update of a message may still arrive. After
// that, a press on a leftover button repairs the message.
const repairDelay = 30 * time.Second

func (t *interaction) key() string { return t.responder.channel + "/" + t.message.Timestamp }

// stripButtons removes the buttons from the message while the answer is processed. The message says what to do if it
// does not change again.
func (t *interaction) stripButtons(ctx context.Context) {
	if t.message == nil {
		return
	}
	blocks := withoutControls(t.message.Blocks)
	blocks = append(blocks, api.NewSectionBlock(plainBlock("An answer is being counted. If this does not change, it did not count: open the question."), nil, nil))
	if b := findOpenButton(t.message.Blocks); b != nil {
		blocks = append(blocks, api.NewActionBlock("", b))
	}
	t.rewrite(ctx, t.c.messages.stripButtons, message{Text: t.message.Text, Blocks: blocks})
}

// restoreButtons puts the buttons back.
func (t *interaction) restoreButtons(ctx context.Context) {
	if t.message != nil {
		t.rewrite(ctx, t.c.messages.restoreButtons, message{Text: t.message.Text, Blocks: t.message.Blocks.BlockSet})
	}
}

func (t *interaction) rewrite(ctx context.Context, apply func(string, func() error) error, m message) {
	r := ref{Channel: t.responder.channel, Message: t.message.Timestamp}
	if err := apply(t.key(), func() error { return t.c.rewriteMessage(ctx, r, m, false) }); err != nil {
		t.log(ctx, "slack: the buttons of a message could not be changed", err)
	}
}

// showOutcome updates the message to the state of the question after its
// buttons were removed.
func (t *interaction) showOutcome(ctx context.Context, v notice.Verdict) {
	if t.message == nil {
		return
	}
	if q := v.Question; q == nil || q.Status == fermata.Pending || q.Resolution == nil {
		t.restoreButtons(ctx)
		return
	}
	t.showClosed(ctx, v.Question)
}

// closeStaleMessage shows the end in a message that still has buttons, if its question closed more than repairDelay
// ago.
func (t *interaction) closeStaleMessage(ctx context.Context, v notice.Verdict) {
	if q := v.Question; t.message != nil && q != nil && q.Resolution != nil && time.Since(q.Resolution.At) > repairDelay {
		t.showClosed(ctx, q)
	}
}

func (t *interaction) showClosed(ctx context.Context, q *fermata.Question) {
	n := &notice.Notice{
		Delivery: t.in.Delivery, Reply: t.in.Reply, Question: q, TaskTitle: q.TaskTitle, Project: q.Project,
		Outcome: notice.OutcomeOf(q), At: q.Resolution.At,
	}
	if b := findOpenButton(t.message.Blocks); b != nil {
		n.Open = b.URL
	}
	r := ref{Channel: t.responder.channel, Message: t.message.Timestamp}
	m := renderClosed(n)
	err := t.c.messages.update(t.key(), n.At, true, func() error { return t.c.rewriteMessage(ctx, r, m, false) })
	if err != nil {
		t.log(ctx, "slack: the end of a question could not be shown", err)
	}
}

// withoutControls returns the blocks without buttons, menus and inputs.
func withoutControls(blocks api.Blocks) (kept []api.Block) {
	for _, b := range blocks.BlockSet {
		switch b := b.(type) {
		case *api.ActionBlock, *api.InputBlock:
		case *api.SectionBlock:
			if b.Accessory != nil {
				continue
			}
			kept = append(kept, b)
		default:
			kept = append(kept, b)
		}
	}
	return kept
}

// findOpenButton returns the button that opens the question.
func findOpenButton(blocks api.Blocks) *api.ButtonBlockElement {
	for _, b := range blocks.BlockSet {
		actions, ok := b.(*api.ActionBlock)
		if !ok || actions.Elements == nil {
			continue
		}
		for _, e := range actions.Elements.ElementSet {
			if button, ok := e.(*api.ButtonBlockElement); ok && button.ActionID == actionOpen {
				return button
			}
		}
	}
	return nil
}
