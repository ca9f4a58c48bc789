package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata/test/standin"
)

// fillIn opens the form of the message, fills it in and submits it.
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
	v, err := s.awaitForm(triggerID)
	if err != nil {
		return err
	}
	return s.submit(person, v, r)
}

// awaitForm waits for the form that an interaction opened.
func (s *Server) awaitForm(triggerID string) (*view, error) {
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

// Submit fills in the form that the person has open, and submits it.
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
	values, err := fillState(shown.Blocks, r)
	if err != nil {
		return err
	}
	triggerID, _ := s.beginInteraction(person, "")
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

// closeForm applies the app's response to a submitted form.
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
		s.tell(person, plainText(&message{blocks: shown.Blocks}))
	default:
		return fmt.Errorf("unknown response_action %q", a.Action)
	}
	return nil
}

// fillState returns the state of a form with the person's answers.
func fillState(raw json.RawMessage, r standin.Reply) (map[string]any, error) {
	values := object{}
	unfilled := map[string]bool{}
	for key := range r.Answers {
		unfilled[key] = true
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
			state, ok := pickState(e, value)
			if !ok {
				others[key] = value
				continue
			}
			values[block] = object{"pick": state}
			delete(unfilled, key)
		}
	}
	for _, e := range elements {
		block, _ := e["block_id"].(string)
		if key, ok := strings.CutPrefix(block, "other:"); ok && others[key] != nil {
			values[block] = object{"pick": object{"type": "plain_text_input", "value": fmt.Sprint(others[key])}}
			values["item:"+key] = object{"pick": object{"type": "static_select"}}
			delete(unfilled, key)
		}
	}
	if len(unfilled) > 0 {
		return nil, fmt.Errorf("the form does not take %v", r.Answers)
	}
	return values, nil
}

// pickState returns the state of an element after the person picked or typed the
// value.
func pickState(e object, value any) (object, bool) {
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

// optionFor finds the option for a value.
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
	// Options whose value is only their position are found by their label.
	for _, o := range list {
		option, _ := o.(object)
		_, says, _ := strings.Cut(textOf(option["text"]), " · ")
		if says = strings.TrimSuffix(says, "…"); says != "" && strings.HasPrefix(fmt.Sprint(value), says) {
			return option
		}
	}
	return nil
}
