package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// checkReachable refuses a question that names unknown channels, a callback URL that no channel serves, or the mail
// address of a person who may not answer. Otherwise the asker would believe that people are notified there.
func checkReachable(r store.Reader, q *fermata.Question) error {
	var problems []fermata.Problem
	var hint string
	named := namedChannels(q)
	if len(named) > 0 || q.CallbackURL != "" {
		channels, err := r.Channels()
		if err != nil {
			return err
		}
		if q.CallbackURL != "" && !slices.ContainsFunc(channels, isCallbackChannel) {
			return fermata.Invalid(fermata.Problem{Field: "callback_url", Message: "outcomes are not posted anywhere here"}).
				WithHint("an admin adds a channel that signs them: fermata channel add callback")
		}
		usable := usableChannelNames(channels)
		for _, n := range named {
			if !slices.Contains(usable, n.name) {
				problems = append(problems, fermata.Problem{Field: n.field, Message: fmt.Sprintf("there is no channel %q here", n.name)})
			}
		}
		hint = "there are: " + strings.Join(append([]string{"inbox, where every question is"}, usable...), ", ")
		if len(usable) == 0 {
			hint = "there are none: every question is in the inbox; an admin adds channels: fermata channel add"
		}
	}
	if len(problems) > 0 {
		return fermata.Invalid(problems...).WithHint("%s", hint)
	}
	return checkMail(r, q)
}

type namedChannel struct{ field, name string }

// namedChannels lists the channels that a question and its levels name.
func namedChannels(q *fermata.Question) []namedChannel {
	var all []namedChannel
	for i, name := range q.Channels {
		all = append(all, namedChannel{fmt.Sprintf("channels[%d]", i), name})
	}
	for i, level := range q.Escalation {
		for j, name := range level.Channels {
			all = append(all, namedChannel{fmt.Sprintf("escalation[%d].channels[%d]", i, j), name})
		}
	}
	return all
}

// usableChannelNames lists the names and the kinds of the channels that are in use.
func usableChannelNames(channels []*fermata.Channel) []string {
	var names, kinds []string
	for _, c := range channels {
		if c.Enabled && c.Kind != fermata.KindCallback {
			names, kinds = append(names, c.Name), append(kinds, c.Kind)
		}
	}
	return fermata.SortUnique(append(names, kinds...))
}

// isCallbackChannel reports whether a channel posts outcomes to the callback URLs of
// askers.
func isCallbackChannel(c *fermata.Channel) bool { return c.Enabled && c.Kind == fermata.KindCallback }

// checkMail refuses a question that names a mail address that no member has, or
// that of a member who may not answer the question.
func checkMail(r store.Reader, q *fermata.Question) error {
	addresses := q.MailAddresses(fermata.KindEmail)
	if len(addresses) == 0 {
		return nil
	}
	members, err := r.Members()
	if err != nil {
		return err
	}
	var problems []fermata.Problem
	for _, address := range addresses {
		i := slices.IndexFunc(members, func(m *fermata.Member) bool { return m.DisabledAt == nil && strings.EqualFold(m.Email, address) })
		switch {
		case i < 0:
			problems = append(problems, mailProblem("%s is no member's address", address))
		case q.CheckMayAnswer(members[i].Caller()) != nil:
			problems = append(problems, mailProblem("%s (%s) may not answer this question", members[i].Handle, address))
		}
	}
	if len(problems) > 0 {
		return fermata.Invalid(problems...).WithHint("only people who may answer can be asked; an admin adds them: fermata member add")
	}
	return nil
}

func mailProblem(format string, args ...any) fermata.Problem {
	return fermata.Problem{Field: "metadata." + fermata.KindEmail, Message: fmt.Sprintf(format, args...)}
}
