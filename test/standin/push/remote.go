package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"

	"github.com/fermata-hq/fermata/test/standin"
)

// Remote adapts the service to the suite for all channels. Each person who
// joined has one browser.
type Remote struct {
	*Service

	mu       sync.Mutex
	browsers map[string]browser
	told     map[string][]string
}

// browser is a browser that is signed in at the server.
type browser struct{ url, token string }

var _ standin.Remote = (*Remote)(nil)

// NewRemote adapts a service to the suite for all channels.
func NewRemote(s *Service) *Remote {
	return &Remote{Service: s, browsers: map[string]browser{}, told: map[string][]string{}}
}

// Join adds a device through the server's API, for a person who is signed in
// at the server.
func (r *Remote) Join(url, token, person string) error {
	r.mu.Lock()
	r.browsers[person] = browser{url, token}
	r.mu.Unlock()
	var key struct{ Key string }
	if err := r.call(person, http.MethodGet, "/v1/push/key", nil, nil, &key); err != nil {
		return err
	}
	if key.Key == "" {
		return errors.New("the server has no key for push messages")
	}
	subscription, err := r.Subscribe(person, key.Key)
	if err != nil {
		return err
	}
	return r.call(person, http.MethodPost, "/v1/me/devices", nil, map[string]any{"subscription": subscription, "name": "a stand-in"}, nil)
}

// Kind returns "push".
func (r *Remote) Kind() string { return "push" }

// Settings returns settings that allow only this service.
func (r *Remote) Settings() map[string]any { return map[string]any{"hosts": []string{"127.0.0.1"}} }

// AddPerson returns no identity, because push services know only devices. The
// person has none until Join.
func (r *Remote) AddPerson(name string) (identityID, email string) {
	return "", name + "@example.com"
}

// VisibleMessages returns the notifications on the person's device.
func (r *Remote) VisibleMessages(person string) []standin.Message {
	var seen []standin.Message
	for _, n := range r.Shown(person) {
		seen = append(seen, n.message())
	}
	return seen
}

// Reply presses the button that gives the answer. If there is none, it opens
// the question's page and answers there, as a person does.
func (r *Remote) Reply(person string, m standin.Message, reply standin.Reply) error {
	for _, n := range r.Shown(person) {
		if n.Tag == m.ID {
			return r.reply(person, &n, reply)
		}
	}
	return fmt.Errorf("%s does not see %s", person, m.ID)
}

func (r *Remote) reply(person string, n *Notification, reply standin.Reply) error {
	if len(reply.Answers) == 0 {
		return errors.New("nobody types into a notification")
	}
	body := map[string]any{"channel": "push"}
	if pressed := n.button(reply.Answers); pressed != nil {
		body["answer"] = pressed
		if n.ActionHash != "" {
			body["action_hash"] = n.ActionHash
		}
	} else if err := r.answerOnPage(person, n, reply.Answers, body); err != nil {
		return err
	}
	return r.call(person, http.MethodPost, "/v1/questions/"+n.Question+"/answer", http.Header{"Idempotency-Key": {"push-" + n.Delivery}}, body, nil)
}

// answerOnPage opens the question's page, which shows the action, and answers there.
func (r *Remote) answerOnPage(person string, n *Notification, answers, body map[string]any) error {
	var q struct {
		ActionHash string `json:"action_hash"`
	}
	if err := r.call(person, http.MethodGet, "/v1/questions/"+n.Question, nil, nil, &q); err != nil {
		return err
	}
	body["channel"], body["answers"] = "web", answers
	if value, one := answers["answer"]; one && len(answers) == 1 {
		delete(body, "answers")
		body["answer"] = value
	}
	if q.ActionHash != "" {
		body["action_hash"] = q.ActionHash
	}
	return nil
}

// button returns the value of the button with the wanted answer, or nil if
// there is none.
func (n *Notification) button(answers map[string]any) any {
	if len(answers) != 1 {
		return nil
	}
	for wanted := range maps.Values(answers) {
		if _, isList := wanted.([]any); isList {
			return nil
		}
		for _, a := range n.Actions {
			if a.Answer == wanted {
				return a.Answer
			}
		}
	}
	return nil
}

// Feedback returns the texts of refusals, as the page shows them.
func (r *Remote) Feedback(person string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[person]
}

// SetInbound does nothing, because people answer through the server's API.
func (r *Remote) SetInbound(string) {}

// call calls the server as the person's browser does. If the server refuses,
// the person is told.
func (r *Remote) call(person, method, path string, header http.Header, body, reply any) error {
	r.mu.Lock()
	b := r.browsers[person]
	r.mu.Unlock()
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		sent = nil
	}
	request, err := http.NewRequestWithContext(context.Background(), method, b.url+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Authorization", "Bearer "+b.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode < 300 {
		if reply == nil {
			return nil
		}
		return json.Unmarshal(got, reply)
	}
	var problem struct{ Detail, Hint string }
	if err := json.Unmarshal(got, &problem); err != nil {
		return err
	}
	r.mu.Lock()
	r.told[person] = append(r.told[person], problem.Detail+" "+problem.Hint)
	r.mu.Unlock()
	return nil
}
