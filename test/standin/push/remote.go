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

// Remote is the service as the suite of all channels sees it, with one browser
// for each person who joined.
type Remote struct {
	*Service

	mu       sync.Mutex
	browsers map[string]browser
	told     map[string][]string
}

// browser is signed in at the server.
type browser struct{ url, token string }

var _ standin.Remote = (*Remote)(nil)

// NewRemote returns the service as the suite of all channels sees it.
func NewRemote(s *Service) *Remote {
	return &Remote{Service: s, browsers: map[string]browser{}, told: map[string][]string{}}
}

// Join adds a device of a person, who is signed in at the server, through the
// server's own door.
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

// Settings allows this service and no other.
func (r *Remote) Settings() map[string]any { return map[string]any{"hosts": []string{"127.0.0.1"}} }

// Person is nobody here until the person joins: push services know devices.
func (r *Remote) Person(name string) (identityID, email string) {
	return "", name + "@example.com"
}

// Seen is what the device shows.
func (r *Remote) Seen(person string) []standin.Message {
	var seen []standin.Message
	for _, n := range r.Shown(person) {
		seen = append(seen, n.message())
	}
	return seen
}

// Reply presses the button that gives the answer, else opens the question's
// page and answers there, as a person does who finds no button.
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
	} else if err := r.onPage(person, n, reply.Answers, body); err != nil {
		return err
	}
	return r.call(person, http.MethodPost, "/v1/questions/"+n.Question+"/answer", http.Header{"Idempotency-Key": {"push-" + n.Delivery}}, body, nil)
}

// onPage opens the question's page, which shows what will run.
func (r *Remote) onPage(person string, n *Notification, answers, body map[string]any) error {
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

// button is the answer of the button that says what is wanted, if there is one.
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

// Told are the words of refusals, as the page says them.
func (r *Remote) Told(person string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[person]
}

// Inbound is nothing here: people answer through the server's own door.
func (r *Remote) Inbound(string) {}

// call speaks with the server as the person's browser does. What is refused is
// told to the person.
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
