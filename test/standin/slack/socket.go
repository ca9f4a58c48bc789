package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socket is the Socket Mode connection of the app.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	mu    sync.Mutex
	acks  map[string]chan json.RawMessage
}

func (k *socket) close() { _ = k.conn.Close() }

func (k *socket) writeJSON(v any) error {
	k.write.Lock()
	defer k.write.Unlock()
	return k.conn.WriteJSON(v)
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	k := &socket{conn: conn, acks: map[string]chan json.RawMessage{}}
	defer k.close()
	if err := k.writeJSON(object{"type": "hello", "num_connections": 1, "connection_info": object{"app_id": AppID}}); err != nil {
		return
	}
	s.mu.Lock()
	s.socket = k
	s.notifyChanged()
	s.mu.Unlock()
	defer s.forget(k)
	stop := make(chan struct{})
	defer close(stop)
	go k.ping(stop)
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := conn.ReadJSON(&ack); err != nil {
			return
		}
		k.mu.Lock()
		if waiting := k.acks[ack.ID]; waiting != nil {
			delete(k.acks, ack.ID)
			waiting <- ack.Payload
		}
		k.mu.Unlock()
	}
}

func (k *socket) ping(stop <-chan struct{}) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = k.conn.WriteControl(websocket.PingMessage, []byte("standin"), time.Now().Add(time.Second))
		case <-stop:
			return
		}
	}
}

func (s *Server) forget(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket == k {
		s.socket = nil
	}
}

// Connected reports whether the app has a Socket Mode connection.
func (s *Server) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.socket != nil
}

// Disconnect closes the Socket Mode connection, as Slack does every few hours.
func (s *Server) Disconnect() {
	s.mu.Lock()
	k := s.socket
	s.socket = nil
	s.mu.Unlock()
	if k != nil {
		_ = k.writeJSON(object{"type": "disconnect", "reason": "refresh_requested"})
	}
}

func (s *Server) sendSocket(kind string, payload object, try int) (json.RawMessage, error) {
	if err := s.Await("the app connects", s.Connected); err != nil {
		return nil, err
	}
	s.mu.Lock()
	k, waits := s.socket, s.ackTimeout
	s.number++
	id := fmt.Sprintf("envelope-%d", s.number)
	s.mu.Unlock()
	if k == nil {
		return nil, errNotAcknowledged
	}
	acked := make(chan json.RawMessage, 1)
	k.mu.Lock()
	k.acks[id] = acked
	k.mu.Unlock()
	if err := k.writeJSON(object{"envelope_id": id, "type": kind, "payload": payload, "accepts_response_payload": kind != "events_api", "retry_attempt": try}); err != nil {
		return nil, err
	}
	timer := time.NewTimer(waits)
	defer timer.Stop()
	select {
	case answer := <-acked:
		return answer, nil
	case <-timer.C:
		return nil, errNotAcknowledged
	}
}
