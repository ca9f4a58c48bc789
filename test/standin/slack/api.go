package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// apiCall is one call of the Web API.
type apiCall struct {
	values url.Values
	token  string
}

// refusal is an error with Slack's name for it.
type refusal struct {
	name, needed string
	messages     []string
}

func (r refusal) Error() string { return r.name }

func refuse(name string, messages ...string) error { return refusal{name: name, messages: messages} }

// methods are the API methods that the stand-in knows, each with the scope that
// it needs.
var methods = map[string]struct {
	scope string
	do    func(*Server, *apiCall) (map[string]any, error)
}{
	"auth.test":             {"", (*Server).authTest},
	"apps.connections.open": {"", (*Server).connectionsOpen},
	"users.info":            {"users:read", (*Server).usersInfo},
	"users.lookupByEmail":   {"users:read.email", (*Server).usersLookup},
	"conversations.open":    {"im:write", (*Server).conversationsOpen},
	"conversations.info":    {"channels:read", (*Server).conversationsInfo},
	"conversations.replies": {"channels:history", (*Server).conversationsReplies},
	"conversations.history": {"channels:history", (*Server).conversationsHistory},
	"chat.postMessage":      {"chat:write", (*Server).postMessage},
	"chat.postEphemeral":    {"chat:write", (*Server).postEphemeral},
	"chat.update":           {"chat:write", (*Server).updateMessage},
	"views.open":            {"", (*Server).viewsOpen},
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	fault := s.recordCall(method)
	if fault.Wait != nil {
		<-fault.Wait
	}
	if fault.Status != 0 && !fault.TakesEffect {
		if fault.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(fault.RetryAfter))
		}
		w.WriteHeader(fault.Status)
		return
	}
	answer := s.call(method, r, fault)
	if fault.TakesEffect {
		status := fault.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		w.WriteHeader(status)
		return
	}
	s.mu.Lock()
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.scopes, ","))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) recordCall(method string) (f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	if queue := s.faults[method]; len(queue) > 0 {
		f, s.faults[method] = queue[0], queue[1:]
	}
	s.notifyChanged()
	return f
}

func (s *Server) call(method string, r *http.Request, f Fault) map[string]any {
	m, known := methods[method]
	if !known {
		return failure(refuse("unknown_method"))
	}
	c, err := readCall(r)
	if err != nil {
		return failure(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	want := BotToken
	if method == "apps.connections.open" {
		want = AppToken
	}
	switch {
	case c.token == "":
		return failure(refuse("not_authed"))
	case c.token != want:
		return failure(refuse("invalid_auth"))
	case m.scope != "" && !slices.Contains(s.scopes, m.scope):
		return failure(refusal{name: "missing_scope", needed: m.scope})
	case f.Error != "":
		return failure(refuse(f.Error))
	}
	answer, err := m.do(s, c)
	if err != nil {
		return failure(err)
	}
	if answer == nil {
		answer = map[string]any{}
	}
	answer["ok"] = true
	s.notifyChanged()
	return answer
}

func failure(err error) map[string]any {
	var r refusal
	if !errors.As(err, &r) {
		r = refusal{name: err.Error()}
	}
	answer := map[string]any{"ok": false, "error": r.name}
	if r.needed != "" {
		answer["needed"] = r.needed
	}
	if len(r.messages) > 0 {
		answer["response_metadata"] = map[string]any{"messages": r.messages}
	}
	return answer
}

// readCall reads the arguments from a form or a JSON object.
func readCall(r *http.Request) (*apiCall, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c := &apiCall{values: r.URL.Query(), token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var object map[string]json.RawMessage
		if len(body) > 0 && string(body) != "null" && json.Unmarshal(body, &object) != nil {
			return nil, refuse("invalid_json")
		}
		for key, raw := range object {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			c.values.Set(key, text)
		}
	} else {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, refuse("invalid_form_data")
		}
		for key, values := range form {
			c.values[key] = values
		}
	}
	if t := c.values.Get("token"); t != "" {
		c.token = t
	}
	return c, nil
}

func (s *Server) authTest(*apiCall) (map[string]any, error) {
	return map[string]any{"url": s.http.URL, "team": "Stand-in", "user": "fermata", "team_id": Team, "user_id": Bot, "bot_id": BotID}, nil
}

func (s *Server) connectionsOpen(*apiCall) (map[string]any, error) {
	return map[string]any{"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/link"}, nil
}

func describeUser(u *User) map[string]any {
	return map[string]any{"user": map[string]any{
		"id": u.ID, "team_id": u.Team, "name": strings.ToLower(u.Name), "real_name": u.Name, "is_bot": u.IsBot, "deleted": u.Gone,
		"is_stranger": u.Team != Team, "is_email_confirmed": !u.Unconfirmed, "profile": map[string]any{"email": u.Email, "real_name": u.Name},
	}}
}

func (s *Server) usersInfo(c *apiCall) (map[string]any, error) {
	u := s.users[c.values.Get("user")]
	if u == nil {
		return nil, refuse("user_not_found")
	}
	return describeUser(u), nil
}

func (s *Server) usersLookup(c *apiCall) (map[string]any, error) {
	for _, u := range s.users {
		if u.Email != "" && strings.EqualFold(u.Email, c.values.Get("email")) && !u.Gone {
			return describeUser(u), nil
		}
	}
	return nil, refuse("users_not_found")
}

func (s *Server) conversationsOpen(c *apiCall) (map[string]any, error) {
	id := c.values.Get("users")
	u := s.users[id]
	switch {
	case u == nil:
		return nil, refuse("user_not_found")
	case u.Gone:
		return nil, refuse("user_disabled")
	case u.IsBot:
		return nil, refuse("cannot_dm_bot")
	}
	return map[string]any{"channel": map[string]any{"id": s.direct(id).id}}, nil
}

func (s *Server) direct(user string) *conversation {
	id := "D" + user[1:]
	if s.conversations[id] == nil {
		s.conversations[id] = &conversation{id: id, with: user, members: []string{Bot, user}}
	}
	return s.conversations[id]
}

func (s *Server) conversationsInfo(c *apiCall) (map[string]any, error) {
	room := s.conversations[c.values.Get("channel")]
	if room == nil {
		return nil, refuse("channel_not_found")
	}
	return map[string]any{"channel": map[string]any{
		"id": room.id, "is_channel": room.with == "", "is_im": room.with != "", "is_member": slices.Contains(room.members, Bot), "is_archived": room.archived,
	}}, nil
}

// writableConversation returns the conversation if the app may write to it.
func (s *Server) writableConversation(id string) (*conversation, error) {
	room := s.conversations[id]
	switch {
	case room == nil:
		return nil, refuse("channel_not_found")
	case room.archived:
		return nil, refuse("is_archived")
	case !slices.Contains(room.members, Bot):
		return nil, refuse("not_in_channel")
	}
	return room, nil
}

func (m *message) describe(channel string) map[string]any {
	d := map[string]any{"type": "message", "ts": m.stamp, "text": m.text, "user": m.user, "channel": channel}
	if m.thread != "" {
		d["thread_ts"] = m.thread
	}
	if m.user == Bot {
		d["bot_id"], d["app_id"] = BotID, AppID
	}
	if len(m.blocks) > 0 {
		d["blocks"] = m.blocks
	}
	return d
}

func (s *Server) conversationsReplies(c *apiCall) (map[string]any, error) {
	room, err := s.writableConversation(c.values.Get("channel"))
	if err != nil {
		return nil, err
	}
	list := []any{}
	limit, _ := strconv.Atoi(c.values.Get("limit"))
	for _, m := range room.messages {
		if m.stamp == c.values.Get("ts") || m.thread == c.values.Get("ts") {
			if limit == 0 || len(list) < limit {
				list = append(list, m.describe(room.id))
			}
		}
	}
	if len(list) == 0 {
		return nil, refuse("thread_not_found")
	}
	return map[string]any{"messages": list}, nil
}

func (s *Server) conversationsHistory(c *apiCall) (map[string]any, error) {
	room, err := s.writableConversation(c.values.Get("channel"))
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, m := range slices.Backward(room.messages) {
		if m.thread == "" && m.stamp >= c.values.Get("oldest") {
			list = append(list, m.describe(room.id))
		}
	}
	return map[string]any{"messages": list}, nil
}

// conversationID returns the id of the conversation for a message. Only the methods that
// post accept names.
func (s *Server) conversationID(channel string) string {
	name, isName := strings.CutPrefix(channel, "#")
	for id, room := range s.conversations {
		if isName && room.name == name {
			return id
		}
	}
	return channel
}

func (s *Server) postMessage(c *apiCall) (map[string]any, error) {
	room, err := s.writableConversation(s.conversationID(c.values.Get("channel")))
	if err != nil {
		return nil, err
	}
	m := &message{stamp: s.stamp(), thread: c.values.Get("thread_ts"), user: Bot}
	if err := m.setContent(c.values); err != nil {
		return nil, err
	}
	room.messages = append(room.messages, m)
	return map[string]any{"channel": room.id, "ts": m.stamp, "message": m.describe(room.id)}, nil
}

// setContent sets the text and blocks of a message, with Slack's checks.
func (m *message) setContent(values url.Values) error {
	if raw := values.Get("blocks"); raw != "" {
		if err := checkBlocks([]byte(raw), false); err != nil {
			return err
		}
		m.blocks = json.RawMessage(raw)
	} else if values.Get("text") == "" {
		return refuse("no_text")
	}
	if err := checkText(values.Get("text")); err != nil {
		return err
	}
	m.text = values.Get("text")
	return nil
}

func (s *Server) updateMessage(c *apiCall) (map[string]any, error) {
	room, m := s.find(c.values.Get("channel") + "/" + c.values.Get("ts"))
	switch {
	case room == nil:
		return nil, refuse("channel_not_found")
	case m == nil:
		return nil, refuse("message_not_found")
	case m.user != Bot:
		return nil, refuse("cant_update_message")
	}
	if err := m.setContent(c.values); err != nil {
		return nil, err
	}
	return map[string]any{"channel": room.id, "ts": m.stamp, "text": m.text, "message": m.describe(room.id)}, nil
}

func (s *Server) postEphemeral(c *apiCall) (map[string]any, error) {
	room, err := s.writableConversation(c.values.Get("channel"))
	if err != nil {
		return nil, err
	}
	user := c.values.Get("user")
	if !slices.Contains(room.members, user) {
		return nil, refuse("user_not_in_channel")
	}
	m := &message{}
	if err := m.setContent(c.values); err != nil {
		return nil, err
	}
	s.tell(user, plainText(m))
	return map[string]any{"message_ts": s.stamp()}, nil
}

func (s *Server) viewsOpen(c *apiCall) (map[string]any, error) {
	t := s.triggers[c.values.Get("trigger_id")]
	switch {
	case t == nil:
		return nil, refuse("invalid_trigger_id")
	case t.used:
		return nil, refuse("exchanged_trigger_id")
	case time.Since(t.at) > patience.Limit():
		return nil, refuse("expired_trigger_id")
	}
	t.used = true
	raw := json.RawMessage(c.values.Get("view"))
	if err := checkView(raw); err != nil {
		return nil, err
	}
	s.number++
	v := &view{id: "V" + strconv.Itoa(s.number), user: t.user, trigger: c.values.Get("trigger_id"), raw: raw, open: true}
	s.views[v.id] = v
	return map[string]any{"view": map[string]any{"id": v.id, "type": "modal"}}, nil
}

// serveResponse takes the posts to a response_url.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	fault := s.recordCall("response_url")
	if fault.Status != 0 {
		w.WriteHeader(fault.Status)
		return
	}
	var body struct {
		Type    string          `json:"response_type"`
		Replace bool            `json:"replace_original"`
		Text    string          `json:"text"`
		Blocks  json.RawMessage `json:"blocks"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.responses[r.URL.Path]
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || at == nil || at.uses >= 5 || body.Replace || body.Type != "ephemeral" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	at.uses++
	s.tell(at.user, plainText(&message{text: body.Text, blocks: body.Blocks}))
	_, _ = w.Write([]byte("ok"))
}
