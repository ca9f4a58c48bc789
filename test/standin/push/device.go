package push

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata/test/standin"
)

// device is a person's browser, with the notifications that it shows.
type device struct {
	endpoint string
	private  *ecdh.PrivateKey
	auth     []byte
	// key is the server's key, with which the browser subscribed.
	key                  string
	unsubscribed, asleep bool
	waiting              []waitingMessage
	shown                []Notification
}

// waitingMessage is a message for a device that sleeps.
type waitingMessage struct {
	topic string
	ttl   int
	text  []byte
}

// Notification is a notification that a device shows.
type Notification struct {
	Kind, Tag, Title, Body, Path, Question, Delivery, Lang, Member string
	ActionHash                                                     string `json:"action_hash"`
	At                                                             int64
	Again, Silent, Stays                                           bool
	Actions                                                        []struct {
		Action, Title string
		Answer        any
	}
}

// Subscribe adds a device for a person, subscribed with the server's key. It
// returns the subscription that a browser gives to the page.
func (s *Service) Subscribe(person, serverKey string) (json.RawMessage, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	d := &device{private: private, auth: make([]byte, 16), key: serverKey}
	if _, err := rand.Read(d.auth); err != nil {
		return nil, err
	}
	path := "/push/" + person
	d.endpoint = s.URL + path
	s.mu.Lock()
	s.devices[path] = d
	s.mu.Unlock()
	b64 := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]any{
		"endpoint": d.endpoint, "expirationTime": nil,
		"keys": map[string]string{"p256dh": b64(private.PublicKey().Bytes()), "auth": b64(d.auth)},
	})
}

// Unsubscribe ends the subscription of a person's device.
func (s *Service) Unsubscribe(person string) {
	s.withDevice(person, func(d *device) { d.unsubscribed = true })
}

// Sleep makes a person's device unreachable.
func (s *Service) Sleep(person string) { s.withDevice(person, func(d *device) { d.asleep = true }) }

// Wake makes the device reachable, and delivers the messages that the service
// kept for it.
func (s *Service) Wake(person string) {
	s.withDevice(person, func(d *device) {
		d.asleep = false
		for _, m := range d.waiting {
			d.show(m.text)
		}
		d.waiting = nil
	})
}

// Shown returns the notifications on a person's device, the newest last.
func (s *Service) Shown(person string) (shown []Notification) {
	s.withDevice(person, func(d *device) { shown = slices.Clone(d.shown) })
	return shown
}

func (s *Service) withDevice(person string, do func(*device)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.devices["/push/"+person]; d != nil {
		do(d)
	}
}

// receive shows a message. If the device sleeps, receive stores the message
// instead, in place of an older one with the same topic.
func (d *device) receive(m waitingMessage) {
	if !d.asleep {
		d.show(m.text)
		return
	}
	if m.topic != "" {
		d.waiting = slices.DeleteFunc(d.waiting, func(w waitingMessage) bool { return w.topic == m.topic })
	}
	if m.ttl > 0 {
		d.waiting = append(d.waiting, m)
	}
}

// show shows a notification in place of one with the same tag.
func (d *device) show(text []byte) {
	var n Notification
	if err := json.Unmarshal(text, &n); err != nil {
		n = Notification{Kind: "unreadable", Body: string(text)}
	}
	d.shown = slices.DeleteFunc(d.shown, func(old Notification) bool { return old.Tag == n.Tag })
	d.shown = append(d.shown, n)
}

func (n *Notification) message() standin.Message {
	m := standin.Message{ID: n.Tag, Text: n.Title + "\n" + n.Body, Question: n.Question, Closed: n.Kind == "closed"}
	for _, a := range n.Actions {
		m.Buttons = append(m.Buttons, a.Title)
	}
	return m
}
