package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/test/standin"
)

// Reply acts as the person: presses the button that says it, picks and sends,
// fills the form in, or writes in the message's thread.
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

// pressOrPick answers with what stands in the message itself.
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
	state, ok := pick(picker, value)
	if !ok {
		return false, nil
	}
	return true, s.Press(person, id, send, object{"values": object{"picker": object{"pick": state}}})
}

// elements returns what can be pressed or picked in a message, each with the
// id of its block.
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
		for _, e := range interactive(b) {
			e["block_id"] = b["block_id"]
			all = append(all, e)
		}
	}
	return all
}

// Button finds a button of a message by what it says.
func (s *Server) Button(id, says string) (map[string]any, error) {
	for _, e := range s.elements(id) {
		if e["type"] == "button" && textOf(e["text"]) == says {
			return e, nil
		}
	}
	return nil, fmt.Errorf("there is no button %q", says)
}

// begin makes the trigger and the address to answer to of one interaction.
func (s *Server) begin(person, channel string) (triggerID, respond string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	triggerID = fmt.Sprintf("%d.%d.standin", time.Now().UnixNano(), s.number)
	s.triggers[triggerID] = &trigger{user: person, at: time.Now()}
	path := "/respond/" + strconv.Itoa(s.number)
	s.responses[path] = &responding{user: person, channel: channel}
	return triggerID, s.http.URL + path
}

// Press presses a button. Slack tells the person itself when the app does not
// acknowledge.
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
	triggerID, respond := s.begin(person, channel)
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

// warn is what Slack shows beside a button when the app did not answer.
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

// fillIn opens the form of the message and sends it filled in.
func (s *Server) fillIn(person, id string, r standin.Reply) error {
	var button object
	for _, e := range s.elements(id) {
		if e["action_id"] == "form" {
			button = e
		}
	}
	if button == nil {
		return errors.New("there is nothing in the message that takes this answer")
	}
	triggerID, err := s.press(person, id, button, nil)
	if err != nil {
		return err
	}
	v, err := s.opened(triggerID)
	if err != nil {
		return err
	}
	return s.submit(person, v, r)
}

// opened waits for the form that an interaction opened.
func (s *Server) opened(triggerID string) (*view, error) {
	var found *view
	err := s.Await("a form is opened", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, v := range s.views {
			if v.trigger == triggerID {
				found = v
			}
		}
		return found != nil
	})
	return found, err
}

// FormOf returns the form that the person has open.
func (s *Server) FormOf(person string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.user == person && v.open {
			return v.raw
		}
	}
	return nil
}

// Submit sends the form that the person has open.
func (s *Server) Submit(person string, r standin.Reply) error {
	var mine *view
	err := s.Await("a form is open", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, v := range s.views {
			if v.user == person && v.open {
				mine = v
			}
		}
		return mine != nil
	})
	if err != nil {
		return err
	}
	return s.submit(person, mine, r)
}

func (s *Server) submit(person string, v *view, r standin.Reply) error {
	var shown struct {
		Blocks   json.RawMessage `json:"blocks"`
		Metadata string          `json:"private_metadata"`
		Callback string          `json:"callback_id"`
	}
	if err := json.Unmarshal(v.raw, &shown); err != nil {
		return err
	}
	values, err := filled(shown.Blocks, r)
	if err != nil {
		return err
	}
	triggerID, _ := s.begin(person, "")
	answer, err := s.send("interactive", object{
		"type": "view_submission", "user": s.userOf(person), "api_app_id": AppID, "team": object{"id": Team}, "trigger_id": triggerID,
		"view": object{
			"id": v.id, "type": "modal", "callback_id": shown.Callback, "private_metadata": shown.Metadata, "blocks": shown.Blocks, "state": object{"values": values},
		},
	})
	if err != nil {
		s.warn(person)
		return err
	}
	return s.closeForm(person, v, answer)
}

// closeForm does with a form what the app answered to it.
func (s *Server) closeForm(person string, v *view, answer json.RawMessage) error {
	var a struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &a); err != nil {
			return fmt.Errorf("the answer to a form is no JSON: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a.Action {
	case "", "clear":
		v.open = false
	case "errors":
		for block, words := range a.Errors {
			if !strings.Contains(string(v.raw), strconv.Quote(block)) {
				return fmt.Errorf("the form has no block %q for the error", block)
			}
			s.tell(person, words)
		}
	case "update":
		if err := checkView(a.View); err != nil {
			return err
		}
		var shown struct {
			Blocks json.RawMessage `json:"blocks"`
		}
		if err := json.Unmarshal(a.View, &shown); err != nil {
			return err
		}
		v.raw, v.open = a.View, false
		s.tell(person, words(&message{blocks: shown.Blocks}))
	default:
		return fmt.Errorf("unknown response_action %q", a.Action)
	}
	return nil
}

// filled is the state of a form with the person's answers in it.
func filled(raw json.RawMessage, r standin.Reply) (map[string]any, error) {
	values := object{}
	left := map[string]bool{}
	for key := range r.Answers {
		left[key] = true
	}
	others := map[string]any{}
	elements := elementsIn(raw)
	for _, e := range elements {
		block, _ := e["block_id"].(string)
		key, isItem := strings.CutPrefix(block, "item:")
		switch value, given := r.Answers[key]; {
		case block == "comment":
			values[block] = object{"pick": object{"type": "plain_text_input", "value": r.Text}}
		case isItem && given:
			state, ok := pick(e, value)
			if !ok {
				others[key] = value
				continue
			}
			values[block] = object{"pick": state}
			delete(left, key)
		}
	}
	for _, e := range elements {
		block, _ := e["block_id"].(string)
		if key, ok := strings.CutPrefix(block, "other:"); ok && others[key] != nil {
			values[block] = object{"pick": object{"type": "plain_text_input", "value": fmt.Sprint(others[key])}}
			values["item:"+key] = object{"pick": object{"type": "static_select"}}
			delete(left, key)
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("the form does not take %v", r.Answers)
	}
	return values, nil
}

// pick is the state of an element after the person picked or typed the value.
func pick(e object, value any) (object, bool) {
	kind, _ := e["type"].(string)
	switch kind {
	case "plain_text_input":
		return object{"type": kind, "value": fmt.Sprint(value)}, true
	case "number_input":
		f, ok := value.(float64)
		if !ok {
			return object{"type": kind, "value": fmt.Sprint(value)}, true
		}
		return object{"type": kind, "value": strconv.FormatFloat(f, 'f', -1, 64)}, true
	case "datepicker":
		return object{"type": kind, "selected_date": value}, true
	case "static_select", "radio_buttons":
		o := optionFor(e, value)
		return object{"type": kind, "selected_option": o}, o != nil
	case "multi_static_select":
		var list []any
		for _, v := range asList(value) {
			o := optionFor(e, v)
			if o == nil {
				return nil, false
			}
			list = append(list, o)
		}
		return object{"type": kind, "selected_options": list}, true
	}
	return nil, false
}

func asList(value any) []any {
	switch list := value.(type) {
	case []any:
		return list
	case []string:
		all := make([]any, len(list))
		for i, s := range list {
			all[i] = s
		}
		return all
	default:
		return []any{value}
	}
}

// optionFor finds the option that stands for a value.
func optionFor(e object, value any) object {
	list, _ := e["options"].([]any)
	want := []string{"=" + fmt.Sprint(value), "?" + fmt.Sprint(value)}
	for _, o := range list {
		option, _ := o.(object)
		carried, _ := option["value"].(string)
		if slices.Contains(want, carried) {
			return option
		}
	}
	// Options that are named by their place are known by what they say.
	for _, o := range list {
		option, _ := o.(object)
		_, says, _ := strings.Cut(textOf(option["text"]), " · ")
		if says = strings.TrimSuffix(says, "…"); says != "" && strings.HasPrefix(fmt.Sprint(value), says) {
			return option
		}
	}
	return nil
}

// Write writes in the thread of a message.
func (s *Server) Write(person, id, text string) error {
	return s.Happen(person, id, text, nil)
}

// Happen is [Server.Write] with more in the event: a subtype, a bot.
func (s *Server) Happen(person, id, text string, more object) error {
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

// Command writes a slash command in the conversation.
func (s *Server) Command(person, command, text string) error {
	triggerID, respond := s.begin(person, Room)
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
	s.tell(person, words(&message{text: said.Text, blocks: said.Blocks}))
	return nil
}

// Shut closes the forms that the person has open, and answers nothing.
func (s *Server) Shut(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.user == person {
			v.open = false
		}
	}
}
