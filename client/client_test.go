package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// newTest returns a client of a server that replies with h. The client waits
// only a millisecond before a retry.
func newTest(t *testing.T, h http.HandlerFunc, opts ...Option) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := New(server.URL, "", opts...)
	if err != nil {
		t.Fatal(err)
	}
	c.minBackoff = time.Millisecond
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func TestNewRefusesWhatIsNoAddressOrToken(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:7433", "ftp://x", "http://", ":"} {
		if _, err := New(address, ""); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("New(%q): got %v, want invalid_request", address, err)
		}
	}
	if _, err := New("http://x", "fmt_short"); fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		t.Errorf("a damaged token: got %v, want unauthenticated", err)
	}
}

func TestProblemBecomesTheError(t *testing.T) {
	t.Parallel()
	c := newTest(t, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusConflict, map[string]any{
			"title": "Conflict", "status": 409, "code": "question_closed", "detail": "the question is closed",
			"hint": "ask again", "problems": []any{map[string]string{"field": "answer", "message": "is late"}},
			"question": map[string]any{"id": "q_1", "resolution": map[string]any{"status": "answered"}},
		})
	})
	_, err := c.Answer(t.Context(), "q_1", fermata.Answer{Answer: "x"})
	var e *fermata.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a fermata.Error", err)
	}
	if e.Code != fermata.CodeQuestionClosed || e.Message != "the question is closed" || e.Hint != "ask again" {
		t.Errorf("got %+v", e)
	}
	if len(e.Problems) != 1 || e.Problems[0].Field != "answer" || e.Question == nil || e.Question.Resolution.Status != fermata.Answered {
		t.Errorf("got problems %v, question %+v", e.Problems, e.Question)
	}
}

func TestPostIsTriedAgainWithTheSameKey(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	keys := make(chan string, 8)
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		keys <- r.Header.Get("Idempotency-Key") + string(body)
		switch tries.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 3:
			writeJSON(w, http.StatusTooManyRequests, map[string]any{"code": "rate_limited", "retry_after": 0.001})
		default:
			writeJSON(w, http.StatusCreated, fermata.Task{ID: "task_1"})
		}
	})
	task, err := c.CreateTask(t.Context(), fermata.NewTask{Title: "x"})
	if err != nil || task.ID != "task_1" {
		t.Fatalf("got %+v, %v", task, err)
	}
	first := patience.Receive(t, "a request comes", keys)
	for range 3 {
		if key := patience.Receive(t, "another try comes", keys); key != first {
			t.Errorf("another try sent %q, the first %q", key, first)
		}
	}
	if len(first) < 20 {
		t.Errorf("the key %q is no random one", first)
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		header string
		opts   []Option
		want   int32
	}{
		{"unavailable", http.StatusServiceUnavailable, "", nil, 5},
		{"without retries", http.StatusServiceUnavailable, "", []Option{WithoutRetries()}, 1},
		{"told to wait for long", http.StatusTooManyRequests, "600", nil, 1},
		{"refused", http.StatusBadRequest, "", nil, 1},
		{"broken inside", http.StatusInternalServerError, "", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			c := newTest(t, func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(tt.status)
			}, tt.opts...)
			_, err := c.ReopenTask(t.Context(), "task_1")
			if err == nil || tries.Load() != tt.want {
				t.Errorf("got %v after %d tries, want an error after %d", err, tries.Load(), tt.want)
			}
		})
	}
}

func TestUnreachableSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	c, err := New(address, "", WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Whoami(t.Context())
	var e *fermata.Error
	if !errors.As(err, &e) || e.Code != fermata.CodeUnavailable || e.Hint != "is `fermata serve` running at "+address+"?" {
		t.Errorf("got %+v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheCallersContextWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		busy := roundTripper(func(*http.Request) (*http.Response, error) {
			cancel()
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"10"}}, Body: http.NoBody}, nil
		})
		c, err := New("http://server.test", "", WithHTTPClient(&http.Client{Transport: busy}))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := c.Task(ctx, "task_1"); err == nil || time.Since(start) > 0 {
			t.Errorf("got %v after %s, want an error at once", err, time.Since(start))
		}
	})
}

func TestAnIDCannotLeaveItsPlace(t *testing.T) {
	t.Parallel()
	c := newTest(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("sent %s", r.URL) })
	for _, id := range []string{"", "..", "a/b", "a?b", "a%2fb"} {
		if _, err := c.Task(t.Context(), id); fermata.CodeOf(err) != fermata.CodeNotFound {
			t.Errorf("Task(%q): got %v, want not_found", id, err)
		}
	}
}

func TestClaimWithoutATask(t *testing.T) {
	t.Parallel()
	c := newTest(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if _, err := c.Claim(t.Context(), fermata.ClaimRequest{Worker: "w"}); !errors.Is(err, ErrNoTask) {
		t.Errorf("got %v, want ErrNoTask", err)
	}
	if err := c.ReportProgress(t.Context(), "task_1", fermata.Progress{Message: "x"}); err != nil {
		t.Errorf("progress: %v", err)
	}
}

func TestBatchResults(t *testing.T) {
	t.Parallel()
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want := `{"items":[{"question_id":"q_1","answer":"x"}]}`; string(body) != want {
			t.Errorf("sent %s, want %s", body, want)
		}
		_, _ = io.WriteString(w, `{"items":[{"question_id":"q_1","status":409,"problem":{"code":"question_closed","detail":"closed"}}]}`)
	})
	results, err := c.AnswerMany(t.Context(), []BatchAnswer{{QuestionID: "q_1", Answer: fermata.Answer{Answer: "x"}}})
	if err != nil || len(results) != 1 || results[0].Err.Code != fermata.CodeQuestionClosed {
		t.Errorf("got %+v, %v", results, err)
	}
}

func TestWaitQuestionPollsUntilItIsClosed(t *testing.T) {
	t.Parallel()
	var polls atomic.Int32
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("wait") == "" {
			t.Errorf("no wait in %s", r.URL)
		}
		q := fermata.Question{ID: "q_1", Status: fermata.Pending}
		if polls.Add(1) == 2 {
			q.Status = fermata.Answered
		}
		writeJSON(w, http.StatusOK, q)
	})
	q, err := c.WaitQuestion(t.Context(), "q_1", time.Minute)
	if err != nil || q.Status != fermata.Answered || polls.Load() != 2 {
		t.Errorf("got %+v, %v after %d polls", q, err, polls.Load())
	}
}
