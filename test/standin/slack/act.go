package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/test/standin"
)

// Reply acts as the person. It presses the button with the answer, picks an
// option and sends it, fills in the form, or writes in the message's thread.
func (s *Server) Reply(person string, m standin.Message, r standin.Reply) error {
	if r.Answers == nil {
		return s.Write(person, m.ID, r.Text)
	}
	if len(r.Answers) == 1 && r.Text == "" {
		for _, value := range r.Answers {
			done, err := s.pressOrPick(person, m.ID, value)
			if done || err != nil {
				return err
			}
		}
	}
	return s.fillIn(person, m.ID, r)
}

// pressOrPick answers with a button or a menu of the message itself. It returns
// false if the message has none for this answer.
func (s *Server) pressOrPick(person, id string, value any) (bool, error) {
	var send, picker object
	for _, e := range s.elements(id) {
		action, _ := e["action_id"].(string)
		switch {
		case strings.HasPrefix(action, "answer"):
			var p struct {
				Value any `json:"v"`
			}
			raw, _ := e["value"].(string)
			if json.Unmarshal([]byte(raw), &p) == nil && p.Value == value {
				return true, s.Press(person, id, e, nil)
			}
		case action == "send":
			send = e
		case action == "pick":
			picker = e
		}
	}
	if send == nil || picker == nil {
		return false, nil
	}
	state, ok := pickState(picker, value)
	if !ok {
		return false, nil
	}
	return true, s.Press(person, id, send, object{"values": object{"picker": object{"pick": state}}})
}

// elements returns the buttons and menus of a message, each with the id of its
// block.
func (s *Server) elements(id string) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.find(id)
	if m == nil {
		return nil
	}
	return elementsIn(m.blocks)
}

func elementsIn(raw json.RawMessage) []object {
	var blocks []object
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var all []object
	for _, b := range blocks {
		for _, e := range interactiveElements(b) {
			e["block_id"] = b["block_id"]
			all = append(all, e)
		}
	}
	return all
}

// Button finds a button of a message by its label.
func (s *Server) Button(id, label string) (map[string]any, error) {
	for _, e := range s.elements(id) {
		if e["type"] == "button" && textOf(e["text"]) == label {
			return e, nil
		}
	}
	return nil, fmt.Errorf("there is no button %q", label)
}

// beginInteraction creates the trigger id and the response address of one interaction.
func (s *Server) beginInteraction(person, channel string) (triggerID, respond string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	triggerID = fmt.Sprintf("%d.%d.standin", time.Now().UnixNano(), s.number)
	s.triggers[triggerID] = &trigger{user: person, at: time.Now()}
	path := "/respond/" + strconv.Itoa(s.number)
	s.responses[path] = &responseURL{user: person, channel: channel}
	return triggerID, s.http.URL + path
}

// Press presses a button. If the app does not acknowledge, Slack itself tells
// the person.
func (s *Server) Press(person, id string, button, state object) error {
	_, err := s.press(person, id, button, state)
	return err
}

func (s *Server) press(person, id string, button, state object) (triggerID string, err error) {
	s.mu.Lock()
	room, m := s.find(id)
	if m == nil {
		s.mu.Unlock()
		return "", errors.New("the message is gone")
	}
	shown, channel := m.describe(room.id), room.id
	s.mu.Unlock()
	triggerID, respond := s.beginInteraction(person, channel)
	if state == nil {
		state = object{"values": object{}}
	}
	action := object{
		"action_id": button["action_id"], "block_id": "block", "type": "button", "value": button["value"], "text": button["text"],
		"action_ts": strconv.FormatFloat(float64(time.Now().UnixMicro())/1e6, 'f', 6, 64),
	}
	payload := object{
		"type": "block_actions", "user": s.userOf(person), "api_app_id": AppID, "team": object{"id": Team},
		"container": object{"type": "message", "message_ts": shown["ts"], "channel_id": channel}, "trigger_id": triggerID,
		"channel": object{"id": channel}, "message": shown, "response_url": respond, "state": state, "actions": []any{action},
	}
	if _, err = s.send("interactive", payload); err != nil {
		s.warn(person)
	}
	return triggerID, err
}

// warn shows the warning that Slack shows beside a button if the app did not
// answer.
func (s *Server) warn(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(person, "Slack: this app did not respond")
}

func (s *Server) userOf(person string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[person]
	if u == nil {
		return object{"id": person}
	}
	return object{"id": u.ID, "username": strings.ToLower(u.Name), "name": strings.ToLower(u.Name), "team_id": u.Team}
}

// Write writes a message in the thread of a message.
func (s *Server) Write(person, id, text string) error {
	return s.WriteWith(person, id, text, nil)
}

// WriteWith is [Server.Write] with more fields in the event, such as a subtype or
// a bot.
func (s *Server) WriteWith(person, id, text string, more object) error {
	s.mu.Lock()
	room, root := s.find(id)
	if root == nil {
		s.mu.Unlock()
		return errors.New("the message is gone")
	}
	m := &message{stamp: s.stamp(), thread: root.stamp, user: person, text: text}
	room.messages = append(room.messages, m)
	s.number++
	eventID := fmt.Sprintf("Ev%07d", s.number)
	kind := "channel"
	if room.with != "" {
		kind = "im"
	}
	event := object{
		"type": "message", "user": person, "text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text), "ts": m.stamp,
		"thread_ts": root.stamp, "parent_user_id": root.user, "channel": room.id, "channel_type": kind, "event_ts": m.stamp,
	}
	s.mu.Unlock()
	for key, v := range more {
		event[key] = v
	}
	return s.sendEvent(object{
		"type": "event_callback", "token": "old", "team_id": Team, "api_app_id": AppID, "event": event,
		"event_id": eventID, "event_time": time.Now().Unix(),
	})
}

// Command enters a slash command in the conversation.
func (s *Server) Command(person, command, text string) error {
	triggerID, respond := s.beginInteraction(person, Room)
	answer, err := s.send("slash_commands", object{
		"command": command, "text": text, "user_id": person, "user_name": "somebody", "team_id": Team, "channel_id": Room,
		"channel_name": "room", "trigger_id": triggerID, "response_url": respond, "api_app_id": AppID,
	})
	if err != nil {
		s.warn(person)
		return err
	}
	if len(answer) == 0 || string(answer) == "null" {
		return nil
	}
	var said struct {
		Text   string          `json:"text"`
		Blocks json.RawMessage `json:"blocks"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(person, plainText(&message{text: said.Text, blocks: said.Blocks}))
	return nil
}

// CloseForms closes the person's open forms without an answer.
func (s *Server) CloseForms(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.user == person {
			v.open = false
		}
	}
}
