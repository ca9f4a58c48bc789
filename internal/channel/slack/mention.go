package slack

import (
	"context"
	"strings"
	"unicode"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// userID and groupID match Slack's ids of people and of user groups.
var (
	userID        = lazyregexp.New(`^[UW][A-Z0-9]{5,20}$`)
	groupID       = lazyregexp.New(`^S[A-Z0-9]{5,20}$`)
	mentionSyntax = lazyregexp.New(`^<(?:@|!subteam\^)([A-Z0-9]+)>$`)
)

// mentions returns the people that a question is for, in Slack's notation, so
// that Slack notifies them in a conversation. A person whom Slack does not know
// is a plain name.
func (c *Channel) mentions(ctx context.Context, n *notice.Notice) ([]string, error) {
	if n.To.Member != "" || n.Question == nil || isFinal(n) {
		return nil, nil
	}
	var all []string
	for _, name := range n.To.People {
		s, err := c.mention(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (c *Channel) mention(ctx context.Context, name string) (string, error) {
	if m := mentionSyntax().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	bare := strings.TrimPrefix(name, "@")
	switch {
	case userID().MatchString(bare):
		return "<@" + bare + ">", nil
	case groupID().MatchString(bare):
		return "<!subteam^" + bare + ">", nil
	case bare == "here" || bare == "channel":
		return "<!" + bare + ">", nil
	case strings.Contains(bare, "@"):
		id, err := c.people.find(ctx, c, bare)
		if err != nil {
			return "", err
		}
		if id != "" {
			return "<@" + id + ">", nil
		}
		bare, _, _ = strings.Cut(bare, "@")
	}
	return quoteText(plainName(bare)), nil
}

// plainName keeps only those characters of a name that Slack cannot read as
// markup.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r == '.' || r == '-' {
			return r
		}
		return -1
	}, s)
}
