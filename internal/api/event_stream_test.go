package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// feed is an open stream of events.
type feed struct {
	t      *testing.T
	lines  *bufio.Scanner
	header http.Header
	stop   context.CancelFunc
	// id is the last id that the stream named.
	id string
}

// frame is one block of a stream that has a name or data.
type frame struct{ id, event, data string }

// follow opens a stream. The headers are given in pairs.
func (w *world) follow(query string, headers ...string) *feed {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/events"+query, nil)
	w.OK(err)
	req.Header.Set("Authorization", "Bearer "+w.human)
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	w.OK(err)
	w.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		w.Fatalf("status %d", res.StatusCode)
	}
	return &feed{t: w.T, lines: bufio.NewScanner(res.Body), header: res.Header, stop: cancel}
}

// next returns the next frame, or false at the end of the stream.
func (f *feed) next() (frame, bool) {
	f.t.Helper()
	var fr frame
	for f.lines.Scan() {
		field, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch field {
		case "id":
			f.id, fr.id = value, value
		case "event":
			fr.event = value
		case "data":
			fr.data = value
		case "":
			if fr.data != "" {
				return fr, true
			}
		}
	}
	return frame{}, false
}

// take reads n events and checks that each frame fits its event.
func (f *feed) take(n int) []fermata.Event {
	f.t.Helper()
	var events []fermata.Event
	for range n {
		fr, ok := f.next()
		if !ok {
			f.t.Fatalf("the stream ended after %d of %d events", len(events), n)
		}
		var e fermata.Event
		if err := json.Unmarshal([]byte(fr.data), &e); err != nil {
			f.t.Fatalf("%q: %v", fr.data, err)
		}
		if fr.id != strconv.FormatInt(e.Seq, 10) || fr.event != string(e.Type) {
			f.t.Errorf("frame %q %q of event %d %s", fr.id, fr.event, e.Seq, e.Type)
		}
		events = append(events, e)
	}
	return events
}

func seqs(events []fermata.Event) []int64 {
	var out []int64
	for _, e := range events {
		out = append(out, e.Seq)
	}
	return out
}

func seqRange(first, last int64) []int64 {
	var out []int64
	for n := first; n <= last; n++ {
		out = append(out, n)
	}
	return out
}

func TestStreamReplaysWithoutGapOrRepeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		w.ask(say)
	}
	half := w.Head()
	all := w.follow("?after=0")
	if got := seqs(all.take(int(half))); !slices.Equal(got, seqRange(1, half)) {
		t.Fatalf("replayed %v", got)
	}
	w.ask(say)
	head := w.Head()
	if got := seqs(all.take(int(head - half))); !slices.Equal(got, seqRange(half+1, head)) {
		t.Errorf("live %v", got)
	}
	all.stop()
	for range 5 {
		w.ask(say)
	}
	again := w.follow("?after=1", "Last-Event-ID", all.id)
	if got := seqs(again.take(int(w.Head() - head))); !slices.Equal(got, seqRange(head+1, w.Head())) {
		t.Errorf("after the break %v, want what follows %d", got, head)
	}
}

func TestStreamWithoutANumberBeginsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(say)
	head := w.Head()
	f := w.follow("")
	w.ask(say)
	if got := f.take(1)[0].Seq; got != head+1 {
		t.Errorf("began at %d, want %d", got, head+1)
	}
	if got := f.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := f.header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering %q", got)
	}
}

func TestStreamResetsANumberOfAnotherLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := w.Head()
	f := w.follow("", "Last-Event-ID", "999999")
	fr, ok := f.next()
	if want := `{"seq":` + strconv.FormatInt(head, 10) + `}`; !ok || fr.event != "reset" || fr.data != want {
		t.Fatalf("got %+v, want reset with %s", fr, want)
	}
	w.ask(say)
	if got := f.take(1)[0].Seq; got != head+1 {
		t.Errorf("went on at %d, want %d", got, head+1)
	}
}

func TestStreamFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(say)
	other := w.ask(say)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+other.ID+"/answer", `{"answer":"x"}`, nil)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"x"}`, nil)
	short := q.TaskID[len(q.TaskID)-12:]
	f := w.follow("?after=0&type=question.asked,question.answered&task=" + short)
	for i, want := range []fermata.EventType{fermata.EventQuestionAsked, fermata.EventQuestionAnswered} {
		if e := f.take(1)[0]; e.Type != want || e.TaskID != q.TaskID {
			t.Errorf("event %d is %s of %s", i, e.Type, e.TaskID)
		}
	}
}

// TestStreamAndListFilterAlike checks that the same address returns the same events live, replayed and as a list,
// also with all types of a noun.
func TestStreamAndListFilterAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const filter = "?after=0&type=question,member.added"
	live := w.follow(filter)
	q := w.ask(say)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"x"}`, nil)
	var list struct{ Items []*fermata.Event }
	r := w.call(w.human, "GET /v1/events"+filter, "", "Accept", "application/json")
	if err := json.Unmarshal(r.body, &list); err != nil {
		t.Fatal(err)
	}
	replayed := w.follow(filter)
	for _, want := range list.Items {
		if e := live.take(1)[0]; e.Seq != want.Seq {
			t.Errorf("live %d %s, the list has %d %s", e.Seq, e.Type, want.Seq, want.Type)
		}
		if e := replayed.take(1)[0]; e.Seq != want.Seq {
			t.Errorf("replayed %d %s, the list has %d %s", e.Seq, e.Type, want.Seq, want.Type)
		}
	}
	if last := list.Items[len(list.Items)-1].Type; last != fermata.EventQuestionAnswered {
		t.Errorf("the list ends with %s", last)
	}
}

// TestAgentsReadEventsOfWork checks that an agent can read events about work and questions. It cannot read events
// about people, tokens and policies: not in a list, not live, and not by requesting them.
func TestAgentsReadEventsOfWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(say)
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false}`, nil)
	w.ask(say)
	var list, live []fermata.EventType
	var page struct{ Items []*fermata.Event }
	r := w.call(w.agent, "GET /v1/events?after=0", "", "Accept", "application/json")
	if err := json.Unmarshal(r.body, &page); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	feed := w.follow("?after=0", "Authorization", "Bearer "+w.agent)
	for _, e := range page.Items {
		list, live = append(list, e.Type), append(live, feed.take(1)[0].Type)
	}
	if !slices.Equal(list, live) || list[len(list)-1] != fermata.EventQuestionAsked {
		t.Errorf("listed %v, live %v", list, live)
	}
	for _, e := range append(list, live...) {
		if noun, _, _ := strings.Cut(string(e), "."); noun != "task" && noun != "question" {
			t.Errorf("an agent reads %s", e)
		}
	}
	for _, accept := range []string{"application/json", "text/event-stream"} {
		if r := w.call(w.agent, "GET /v1/events?type=token,member.added", "", "Accept", accept); r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", accept, r.status, r.body)
		}
	}
}

func TestStreamEndsWhenTheServerDrains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.follow("")
	w.api.SetDraining()
	if fr, ok := f.next(); ok {
		t.Errorf("got %+v instead of the end", fr)
	}
	if err := f.lines.Err(); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	if r := w.call("", "GET /readyz", ""); r.status != http.StatusServiceUnavailable {
		t.Errorf("ready got %d while draining", r.status)
	}
}

func TestStreamRefusesBadNumbersAndCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, query := range []string{"?after=-1", "?after=x", "?aftr=1"} {
		if r := w.call(w.agent, "GET /v1/events"+query, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s got %d", query, r.status)
		}
	}
	if r := w.call("", "GET /v1/events", ""); r.status != http.StatusUnauthorized {
		t.Errorf("without a token %d", r.status)
	}
}

func TestEventsAsAList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(say)
	var got []int64
	after := "0"
	for after != "" {
		var page struct {
			Items      []fermata.Event `json:"items"`
			NextCursor string          `json:"next_cursor"`
		}
		r := w.call(w.human, "GET /v1/events?limit=2&after="+after, "", "Accept", "application/json")
		if err := json.Unmarshal(r.body, &page); err != nil {
			t.Fatalf("%s: %v", r.body, err)
		}
		got, after = append(got, seqs(page.Items)...), page.NextCursor
	}
	if !slices.Equal(got, seqRange(1, w.Head())) {
		t.Errorf("listed %v of %d", got, w.Head())
	}
}
