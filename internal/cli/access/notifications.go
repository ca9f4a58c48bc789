package access

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// NotificationsCommand is fermata notifications: it shows and changes how the caller wants to be reached.
type NotificationsCommand struct {
	session.WriteFlags
	Member   string   `placeholder:"HANDLE" help:"Somebody else's; for admins."`
	Zone     *string  `placeholder:"ZONE" help:"Time zone, such as Europe/Berlin."`
	Language *string  `placeholder:"TAG" help:"Language, such as de."`
	Quiet    *string  `placeholder:"FROM-TO" help:"Quiet hours, such as 22:00-07:00; off ends them."`
	Days     []string `placeholder:"DAY" help:"Days on which the quiet hours begin: mon,tue … (default: every day)."`
	Urgent   *bool    `negatable:"" help:"Let urgent questions through the quiet hours."`
	Deadline *string  `name:"deadlines" placeholder:"WHICH" help:"Which questions come through if their deadline is within the quiet hours: urgent, all or none."`
	Digest   *string  `placeholder:"HOW" help:"Gather questions of low urgency: off, hourly or daily."`
	File     string   `short:"f" type:"path" placeholder:"FILE" help:"JSON with all of it, as --json prints it; - is standard input."`
}

// Help returns the description and the examples that --help prints.
func (NotificationsCommand) Help() string {
	return `Without a flag it shows how you want to be reached.

Examples:

    fermata notifications
    fermata notifications --zone Europe/Berlin --quiet 22:00-07:00 --urgent
    fermata notifications --digest daily
    fermata notifications --json > mine.json
    fermata notifications -f mine.json`
}

// changesAny reports whether a flag changes anything.
func (c *NotificationsCommand) changesAny() bool {
	return c.Zone != nil || c.Language != nil || c.Quiet != nil || len(c.Days) > 0 || c.Urgent != nil || c.Deadline != nil || c.Digest != nil || c.File != ""
}

// Run runs the command.
func (c *NotificationsCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	p, err := server.Preferences(ctx, c.Member)
	if err != nil {
		return err
	}
	if c.changesAny() {
		if err := c.apply(s, &p); err != nil {
			return err
		}
		if err := p.Check(); err != nil {
			return err
		}
		if done, err := s.PrintDryRun(c.WriteFlags, "PUT", "/me/notifications", p); done {
			return err
		}
		if p, err = server.SetPreferences(ctx, c.Member, p); err != nil {
			return err
		}
		s.PrintDone("", "noted")
	}
	if s.JSON {
		return s.WriteJSON(p)
	}
	c.show(s, p)
	return nil
}

// apply applies the flags to the preferences.
func (c *NotificationsCommand) apply(s *session.Session, p *fermata.Preferences) error {
	if c.File != "" {
		*p = fermata.Preferences{}
		if err := s.ReadJSON(c.File, p); err != nil {
			return err
		}
	}
	if c.Zone != nil {
		p.Zone = *c.Zone
	}
	if c.Language != nil {
		p.Language = *c.Language
	}
	if c.Digest != nil {
		p.Digest = fermata.DigestFrequency(*c.Digest)
	}
	return c.applyQuiet(p)
}

func (c *NotificationsCommand) applyQuiet(p *fermata.Preferences) error {
	if c.Quiet != nil && *c.Quiet == "off" {
		p.Quiet = nil
		return session.CheckUnreadFlags("--quiet off", map[string]bool{"--days": len(c.Days) > 0, "--urgent": c.Urgent != nil, "--deadlines": c.Deadline != nil})
	}
	if c.Quiet != nil {
		from, to, ok := strings.Cut(*c.Quiet, "-")
		if !ok {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%q are no quiet hours", *c.Quiet).WithHint("write them like 22:00-07:00, or off")
		}
		quiet := fermata.QuietHours{From: from, To: to, Urgent: true}
		if p.Quiet != nil {
			quiet.Days, quiet.Urgent, quiet.Deadlines = p.Quiet.Days, p.Quiet.Urgent, p.Quiet.Deadlines
		}
		p.Quiet = &quiet
	}
	if (len(c.Days) > 0 || c.Urgent != nil || c.Deadline != nil) && p.Quiet == nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "there are no quiet hours").WithHint("name them too: --quiet 22:00-07:00")
	}
	if len(c.Days) > 0 {
		p.Quiet.Days = c.Days
	}
	if c.Urgent != nil {
		p.Quiet.Urgent = *c.Urgent
	}
	if c.Deadline != nil {
		p.Quiet.Deadlines = fermata.QuietDeadlines(*c.Deadline)
	}
	return nil
}

func (c *NotificationsCommand) show(s *session.Session, p fermata.Preferences) {
	out := s.Stdout()
	zone := p.Zone
	if zone == "" {
		zone = "UTC"
	}
	out.Line("zone: %s", terminal.OneLine(zone))
	out.Line("digest of low urgency: %s", p.Digest)
	if p.Quiet == nil {
		out.Line("quiet hours: none")
		return
	}
	days, urgent := "every day", "urgent questions wait, too"
	if len(p.Quiet.Days) > 0 {
		days = strings.Join(p.Quiet.Days, ", ")
	}
	if p.Quiet.Urgent {
		urgent = "urgent questions come through"
	}
	out.Line("quiet hours: %s to %s, %s; %s", p.Quiet.From, p.Quiet.To, days, urgent)
	out.Line("deadlines: %s", deadlinesText(p.Quiet.Deadlines))
}

// deadlinesText returns which questions come through quiet hours because of their deadline.
func deadlinesText(d fermata.QuietDeadlines) string {
	switch d {
	case fermata.DeadlinesNone:
		return "no question comes through because of its deadline"
	case fermata.DeadlinesAll:
		return "every question comes through if its deadline is before the end of the quiet hours"
	default:
		return "an urgent question comes through if its deadline is before the end of the quiet hours"
	}
}
