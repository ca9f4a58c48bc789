package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// AuditQuery filters the audit log. An empty field does not filter.
type AuditQuery struct {
	// Q is searched for in names and in the data of events. A whole id is found too.
	Q string
	// Types holds types such as question.asked, or nouns such as question.
	Types []string
	// Actor is a kind of actor, or the id or name of one.
	Actor  string
	TaskID string
	// From and To bound the time of the events. From is included, To is not.
	From, To *time.Time
	// Limit is the size of a page. The server chooses it if it is 0.
	Limit int
	// Cursor is the cursor that the previous page returned.
	Cursor string
}

// Audit returns a page of the audit log, newest first. A page may hold fewer events than its limit and not be the last
// one: see [fermata.AuditPage].
func (c *Client) Audit(ctx context.Context, q AuditQuery) (fermata.AuditPage, error) {
	v := values{}
	v.setText("q", q.Q)
	v.setList("type", q.Types)
	v.setText("actor", q.Actor)
	v.setText("task", q.TaskID)
	v.setInstant("from", q.From)
	v.setInstant("to", q.To)
	v.setNumber("limit", int64(q.Limit))
	v.setText("cursor", q.Cursor)
	return get[fermata.AuditPage](ctx, c, path("audit"), url.Values(v))
}

// ExportAudit writes the events of a period to w as JSON lines, in the order of the chain, and returns their number. A
// nil bound is the beginning or the end of the log. An export that is cut off is an error.
func (c *Client) ExportAudit(ctx context.Context, from, to *time.Time, w io.Writer) (int64, error) {
	v := values{}
	v.setInstant("from", from)
	v.setInstant("to", to)
	req, err := c.request(ctx, call{method: http.MethodGet, path: path("audit", "export"), query: url.Values(v)}, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "application/jsonl, application/problem+json")
	res, err := c.http.Do(req)
	if err != nil {
		return 0, c.unreachableError(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(res.Body, maxReply))
		return 0, c.readProblem(res, data)
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/jsonl") {
		return 0, fermata.Errorf(fermata.CodeInternal, "%s sends %q instead of events", c.base.Host, kind).
			WithHint("is %s the address of a Fermata server?", c.URL())
	}
	return c.copyLines(ctx, res.Body, w)
}

// copyLines copies the lines of an export and returns the number of events.
func (c *Client) copyLines(ctx context.Context, r io.Reader, w io.Writer) (int64, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := int64(0); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return n, nil
		}
		if err != nil {
			return n, c.unreachableError(ctx, err)
		}
		if _, err := w.Write(line); err != nil {
			return n, fermata.Errorf(fermata.CodeInternal, "write the export: %w", err)
		}
		if !isTrimmedRange(line) {
			n++
		}
	}
}

// Verification verifies a chain of events one by one, and compares it with signed audit checkpoints.
type Verification struct {
	chain  fermata.ChainVerification
	report AuditReport
	// hashes maps the event numbers of the checkpoints to their hashes. lastSeq is the greatest of these numbers.
	hashes  map[int64]string
	lastSeq int64
	// beginsAnywhere allows the chain to begin with any event. hasBegun reports whether it has.
	beginsAnywhere, hasBegun bool
	// signatures verifies what the server signed; nil if nobody does. recent are the hashes of the last events, which
	// checkpoints in the chain may sign.
	signatures Signatures
	recent     []recentHash
}

// Signatures verifies what a server signed: the checkpoints in its chain, and the trimmed ranges.
type Signatures interface {
	Verify(signed fermata.SignedCheckpoint) error
	VerifyRange(signed fermata.SignedTrimmedRange) error
}

// maxRecent is the largest number of events between an event and the checkpoint that signs it. A server signs much sooner.
const maxRecent = 1 << 14

// recentHash is the hash of an event.
type recentHash struct {
	seq  int64
	hash string
}

// VerifySignatures also verifies the signatures in the chain. Without it, they are not verified: a person who can write the
// chain can then make up a trimmed range.
func (v *Verification) VerifySignatures(s Signatures) {
	v.signatures, v.recent = s, make([]recentHash, maxRecent)
}

// EnterRange continues the chain with a range from which retention removed events, and reports whether the chain is whole up
// to it. The events that were kept in the range come next.
func (v *Verification) EnterRange(signed fermata.SignedTrimmedRange) bool {
	v.begin(signed.First, signed.PrevHash)
	if v.report.Problem != "" {
		return false
	}
	if v.signatures != nil {
		if err := v.signatures.VerifyRange(signed); err != nil {
			v.report.Problem = err.Error()
			return false
		}
		v.report.SignedTo = signed.Last
	}
	if err := v.chain.EnterRange(signed.TrimmedRange); err != nil {
		v.report.Problem = err.Error()
		return false
	}
	v.report.Removed += signed.Removed()
	if hash, ok := v.hashes[signed.Last]; ok && hash != signed.Hash {
		v.report.Problem = fmt.Sprintf("event %d is not the one that a checkpoint signed", signed.Last)
		return false
	}
	return true
}

// begin begins the chain with an event, if it may begin anywhere.
func (v *Verification) begin(seq int64, prevHash string) {
	if v.beginsAnywhere && !v.hasBegun {
		v.chain.Chain = fermata.Chain{Seq: seq - 1, Hash: prevHash}
	}
	v.hasBegun = true
}

// NewVerification returns a verification of a chain from its first event. It compares the chain with the checkpoints,
// whose signatures the caller must have checked.
func NewVerification(checkpoints []fermata.SignedCheckpoint) *Verification {
	v := &Verification{hashes: map[int64]string{}}
	for _, c := range checkpoints {
		if known, ok := v.hashes[c.Seq]; ok && known != c.Hash {
			v.report.Problem = fmt.Sprintf("two checkpoints of event %d differ: both were signed, so there were two histories", c.Seq)
		}
		v.hashes[c.Seq], v.lastSeq = c.Hash, max(v.lastSeq, c.Seq)
	}
	return v
}

// VerifyNext verifies the next event, and reports whether the chain is whole up to it.
func (v *Verification) VerifyNext(e *fermata.Event) bool {
	v.begin(e.Seq, e.PrevHash)
	if v.report.Problem != "" {
		return false
	}
	if err := v.chain.VerifyNext(e); err != nil {
		v.report.Problem = err.Error()
		return false
	}
	v.report.Events++
	v.report.Last = &AuditMark{e.Seq, e.At}
	if v.report.First == nil {
		v.report.First = v.report.Last
	}
	if hash, ok := v.hashes[e.Seq]; ok && hash != e.Hash {
		v.report.Problem = fmt.Sprintf("event %d is not the one that a checkpoint signed", e.Seq)
		return false
	} else if ok {
		v.report.Witnessed++
	}
	if v.signatures == nil {
		return true
	}
	*v.recentOf(e.Seq) = recentHash{e.Seq, e.Hash}
	return e.Type != fermata.EventAuditCheckpoint || v.verifyCheckpoint(e)
}

// verifyCheckpoint verifies a checkpoint in the chain. It counts only if it signs an event that was verified before.
func (v *Verification) verifyCheckpoint(e *fermata.Event) bool {
	var signed fermata.SignedCheckpoint
	err := json.Unmarshal(e.Data, &signed)
	if err == nil {
		err = v.signatures.Verify(signed)
	}
	if err != nil {
		v.report.Problem = fmt.Sprintf("event %d holds no valid checkpoint: %v", e.Seq, err)
		return false
	}
	switch known := v.recentOf(signed.Seq); {
	case known.seq != signed.Seq || known.hash == "":
	case known.hash != signed.Hash:
		v.report.Problem = fmt.Sprintf("event %d is not the one that the checkpoint in event %d signed", signed.Seq, e.Seq)
		return false
	default:
		v.report.Checkpoints++
		v.report.SignedTo = max(v.report.SignedTo, signed.Seq)
	}
	return true
}

// recentOf returns the place for the hash of an event. The writer of an export chose the number, which may be negative.
func (v *Verification) recentOf(seq int64) *recentHash {
	return &v.recent[uint64(seq)%maxRecent]
}

// Report returns the result of the verification.
func (v *Verification) Report() AuditReport {
	r := v.report
	if err := v.chain.Finish(); err != nil && r.Problem == "" {
		r.Problem = err.Error()
	}
	if r.Problem == "" && v.lastSeq > v.chain.Seq {
		r.Problem = fmt.Sprintf("it ends at event %d, and event %d was signed", v.chain.Seq, v.lastSeq)
		if v.beginsAnywhere {
			r.Problem += ": its end was cut off, or it is older than the checkpoints"
		}
	}
	r.OK = r.Problem == ""
	return r
}
