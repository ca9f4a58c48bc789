package cli

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type memberDevicesCommand struct {
	write
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

func (c *memberDevicesCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
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
	if done, err := s.printDryRun(c.write, "DELETE", "/members/"+c.Handle+"/sessions", nil); done {
		return err
	}
	n, err := server.EndSessionsOf(ctx, c.Handle)
	if err != nil {
		return err
	}
	s.printDone("", "signed %s out everywhere: %s ended", oneLine(c.Handle), countText(n, "session"))
	return nil
}

// remove removes the passkey, session or push device with the typed id.
func (c *memberDevicesCommand) remove(ctx context.Context, s *session, server *client.Client, all devices, typedID string) error {
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
	if done, err := s.printDryRun(c.write, "DELETE", path+id, nil); done {
		return err
	}
	if err := end(ctx, id); err != nil {
		return err
	}
	s.printDone("", "removed the %s %s of %s", kind, id, oneLine(c.Handle))
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
		return "", "", fermata.Errorf(fermata.CodeInvalidRequest, "%q is the ending of several: %s", typedID, strings.Join(ids, ", ")).WithHint("type more of it")
	}
	return kind, ids[0], nil
}

func (d devices) print(s *session) error {
	if s.JSON {
		return s.writeJSON(d)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "KIND"}, {head: "WHAT", flex: true}, {head: "ADDED"}, {head: "USED"}}}
	for _, p := range d.Passkeys {
		used := "never"
		if p.LastUsedAt != nil {
			used = s.agoText(*p.LastUsedAt)
		}
		t.add(s.idText(p.ID), "passkey", p.Name, s.agoText(p.CreatedAt), used)
	}
	for _, one := range d.Sessions {
		t.add(s.idText(one.ID), "session", one.UserAgent, s.agoText(one.CreatedAt), s.agoText(one.LastSeenAt))
	}
	for _, one := range d.Push {
		used := "never"
		if one.LastSentAt != nil {
			used = s.agoText(*one.LastSentAt)
		}
		t.add(s.idText(one.ID), "push", one.Name+" · "+one.Endpoint, s.agoText(one.AddedAt), used)
	}
	s.printTable(t, "no passkeys, no push devices, and signed in nowhere")
	return nil
}
