package access

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type memberDevicesCommand struct {
	session.WriteFlags
	Handle  string   `arg:"" help:"Whose devices."`
	Remove  []string `placeholder:"ID" help:"Passkey, session or push device to end; repeat it."`
	SignOut bool     `help:"Sign the person out of every browser. Nothing is pushed to them any more."`
}

func (memberDevicesCommand) Help() string {
	return `Your own, or as an admin anybody's. Who lost all passkeys signs in with a link (fermata member link) and adds a new one.

Examples:

    fermata member devices anna
    fermata member devices anna --remove 8w3k2f
    fermata member devices anna --sign-out`
}

// devices holds the passkeys, the sessions and the push devices of a person.
type devices struct {
	Passkeys []*fermata.Passkey        `json:"passkeys"`
	Sessions []*fermata.BrowserSession `json:"sessions"`
	Push     []*fermata.Device         `json:"push"`
}

func (c *memberDevicesCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	var all devices
	if all.Passkeys, err = server.PasskeysOf(ctx, c.Handle); err != nil {
		return err
	}
	if all.Sessions, err = server.SessionsOf(ctx, c.Handle); err != nil {
		return err
	}
	if all.Push, err = server.DevicesOf(ctx, c.Handle); err != nil {
		return err
	}
	if len(c.Remove) == 0 && !c.SignOut {
		return all.print(s)
	}
	for _, typed := range c.Remove {
		if err := c.remove(ctx, s, server, all, typed); err != nil {
			return err
		}
	}
	if !c.SignOut {
		return nil
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/members/"+c.Handle+"/sessions", nil); done {
		return err
	}
	n, err := server.EndSessionsOf(ctx, c.Handle)
	if err != nil {
		return err
	}
	s.PrintDone("", "signed %s out everywhere: %s ended", terminal.OneLine(c.Handle), terminal.CountText(n, "session"))
	return nil
}

// remove removes the passkey, session or push device with the typed id.
func (c *memberDevicesCommand) remove(ctx context.Context, s *session.Session, server *client.Client, all devices, typedID string) error {
	kind, id, err := all.find(typedID)
	if err != nil {
		return err
	}
	end, path := server.EndSession, "/sessions/"
	switch kind {
	case "passkey":
		end, path = server.RemovePasskey, "/passkeys/"
	case "push device":
		end, path = server.RemoveDevice, "/me/devices/"
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", path+id, nil); done {
		return err
	}
	if err := end(ctx, id); err != nil {
		return err
	}
	s.PrintDone("", "removed the %s %s of %s", kind, id, terminal.OneLine(c.Handle))
	return nil
}

// find returns the device with the id, or with the typed ending of it.
func (d devices) find(typedID string) (kind, id string, err error) {
	var ids []string
	for _, p := range d.Passkeys {
		if strings.HasSuffix(p.ID, strings.ToLower(typedID)) {
			kind, ids = "passkey", append(ids, p.ID)
		}
	}
	for _, one := range d.Sessions {
		if strings.HasSuffix(one.ID, strings.ToLower(typedID)) {
			kind, ids = "session", append(ids, one.ID)
		}
	}
	for _, one := range d.Push {
		if strings.HasSuffix(one.ID, strings.ToLower(typedID)) {
			kind, ids = "push device", append(ids, one.ID)
		}
	}
	switch {
	case len(ids) == 0 || len(typedID) < fermata.MinIDSuffix:
		return "", "", fermata.Errorf(fermata.CodeNotFound, "%q is none of these passkeys, sessions and push devices", typedID).WithHint("fermata member devices HANDLE lists them")
	case len(ids) > 1:
		return "", "", fermata.Errorf(fermata.CodeInvalidRequest, "several ids end with %q: %s", typedID, strings.Join(ids, ", ")).WithHint("type more of it")
	}
	return kind, ids[0], nil
}

func (d devices) print(s *session.Session) error {
	if s.JSON {
		return s.WriteJSON(d)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "KIND"}, {Head: "WHAT", Flex: true}, {Head: "ADDED"}, {Head: "USED"}}}
	for _, p := range d.Passkeys {
		used := "never"
		if p.LastUsedAt != nil {
			used = s.AgoText(*p.LastUsedAt)
		}
		t.Add(s.IDText(p.ID), "passkey", p.Name, s.AgoText(p.CreatedAt), used)
	}
	for _, one := range d.Sessions {
		t.Add(s.IDText(one.ID), "session", one.UserAgent, s.AgoText(one.CreatedAt), s.AgoText(one.LastSeenAt))
	}
	for _, one := range d.Push {
		used := "never"
		if one.LastSentAt != nil {
			used = s.AgoText(*one.LastSentAt)
		}
		t.Add(s.IDText(one.ID), "push", one.Name+" · "+one.Endpoint, s.AgoText(one.AddedAt), used)
	}
	s.PrintTable(t, "no passkeys, no push devices, and signed in nowhere")
	return nil
}
