package api_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
)

// trim lets a task end, and removes it a month later. It returns the public key of the server.
func (w *world) trim() (publicKey string) {
	w.Helper()
	signer, err := checkpoint.NewSigner(w.Options.Keys.AuditSigner())
	w.OK(err)
	signing := engine.New(w.DB, engine.Options{Signer: signer, CheckpointEvery: time.Minute})
	var task fermata.Task
	w.must(http.StatusCreated, w.human, "POST /v1/tasks", `{"title":"paint"}`, &task)
	w.must(http.StatusOK, w.human, "POST /v1/tasks/"+task.ID+"/cancel", "{}", nil)
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false,"keep_tasks":"30d"}`, nil)
	w.Clock.Advance(time.Hour)
	w.sign(signing)
	w.Clock.Advance(31 * 24 * time.Hour)
	w.OK(signing.ApplyRetention(w.Context()))
	w.must(http.StatusNotFound, w.human, "GET /v1/tasks/"+task.ID, "", nil)
	return signer.PublicKey()
}

// sign waits until the engine has signed the end of the chain.
func (w *world) sign(e *engine.Engine) {
	w.Helper()
	before := w.Head()
	stop := testkit.Run(w, e.RunCheckpoints)
	defer stop()
	patience.Await(w, "the end of the chain is signed", func() bool { return w.Head() > before })
}

// What was removed is reported, and the rest can be verified on the server, through the API and from an export.
func TestATrimmedChainIsVerifiedEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.trim()
	c := testkit.NewClient(w, w.url, w.admin)
	kept, err := c.Retention(t.Context())
	w.OK(err)
	if kept.KeepTasks != "30d" || kept.KeepLogs != fermata.Never || kept.RemovedEvents == 0 || kept.LastRemoval == nil || kept.LastRemoval.TaskCount() != 1 {
		t.Fatalf("got %+v", kept)
	}
	onServer, err := c.VerifyAudit(t.Context())
	w.OK(err)
	if !onServer.OK || onServer.Removed != kept.RemovedEvents || onServer.Events+onServer.Removed != w.Head() {
		t.Fatalf("got %+v of %d events", onServer, w.Head())
	}
	end, err := c.VerifyAuditEnd(t.Context())
	w.OK(err)
	w.Equal(true, end.OK)

	var export bytes.Buffer
	n, err := c.ExportAudit(t.Context(), nil, nil, &export)
	w.OK(err)
	w.Equal(onServer.Events, n)
	v := client.NewVerification(nil)
	signatures, err := checkpoint.NewVerifier(key)
	w.OK(err)
	v.VerifySignatures(signatures)
	report := v.VerifyExport(&export)
	if !report.OK || report.Events != n || report.Removed != kept.RemovedEvents {
		t.Fatalf("got %+v", report)
	}
	ranges, err := c.TrimmedRanges(t.Context(), 0)
	w.OK(err)
	w.Equal(1, len(ranges))
	ranges, err = c.TrimmedRanges(t.Context(), ranges[0].Last)
	w.OK(err)
	w.Equal(0, len(ranges))
	for _, path := range []string{"/v1/retention", "/v1/audit/trimmed-ranges"} {
		w.must(http.StatusForbidden, w.agent, "GET "+path, "", nil)
	}
	if p := w.call(w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false,"keep_logs":"1h"}`).problem(t); p.Code != fermata.CodeInvalidRequest {
		t.Errorf("got %+v", p)
	}
}
