package workflow

import (
	"context"
	"fmt"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// StartByWebhook starts a run by a request from outside. The request must be signed as Standard Webhooks says, unless
// the trigger has auth: none. The body is data, never a template. Requests with the same id start one run. It returns the
// id of the run, or "" if the body does not meet the condition of the trigger.
func (s *Service) StartByWebhook(ctx context.Context, workspace, name string, header http.Header, body []byte) (string, error) {
	r := s.db.Reader(ctx, workspace)
	w, err := r.Workflow(name)
	if err != nil {
		return "", err
	}
	d, err := s.loadPinned(r, name, w.Hash)
	if err != nil {
		return "", err
	}
	var t *definition.Trigger
	for i := range d.Triggers {
		if d.Triggers[i].Type == definition.Webhook {
			t = &d.Triggers[i]
		}
	}
	if t == nil || !w.Enabled {
		// A stranger must not learn more than that.
		return "", fermata.NotFound("workflow", name)
	}
	if t.Auth != definition.AuthNone {
		if err := checkSignature(w.WebhookSecret, header, body); err != nil {
			return "", err
		}
	}
	cause := map[string]any{"type": string(fermata.TriggerWebhook)}
	if id := header.Get(standardwebhooks.HeaderWebhookID); id != "" {
		cause["id"] = id
	}
	if len(body) > 0 {
		if lost := fermata.FindLostNumber(body); lost != "" {
			return "", fermata.LostNumberError("the body", lost)
		}
		v, err := definition.DecodeJSON(body)
		if err != nil {
			return "", fermata.Errorf(fermata.CodeInvalidRequest, "the body is no JSON")
		}
		cause["body"] = v
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return "", err
	}
	return s.fireWebhook(ctx, d, w, t, definition.Env{"trigger": cause, definition.NowKey: now})
}

// checkSignature checks the signature and the time of a request.
func checkSignature(secret string, header http.Header, body []byte) error {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err == nil {
		err = hook.Verify(body, header)
	}
	if err != nil {
		return fermata.Errorf(fermata.CodeUnauthenticated, "the request is not signed as it must be").
			WithHint("sign it as standardwebhooks.com says, with the secret of fermata workflow webhook-secret, and a clock that is right")
	}
	return nil
}

func (s *Service) fireWebhook(ctx context.Context, d *definition.Workflow, w *fermata.Workflow, t *definition.Trigger, env definition.Env) (string, error) {
	cause, _ := env["trigger"].(map[string]any)
	if t.If != nil {
		holds, err := t.If.Bool(env)
		if err != nil {
			return "", fermata.Invalid(fermata.Problem{Field: "body", Message: fmt.Sprintf("the condition of the trigger: %s", err)})
		}
		if !holds {
			return "", nil
		}
	}
	given, failedInput, err := renderInputs(t, env)
	if err != nil {
		return "", fermata.Invalid(fermata.Problem{Field: "inputs." + failedInput, Message: err.Error()})
	}
	if body, ok := cause["body"].(map[string]any); ok {
		for _, in := range d.Inputs {
			// The type does not matter here: checkInputs reports a wrong one to
			// the caller.
			if _, ok := given[in.Name]; !ok && body[in.Name] != nil {
				given[in.Name] = body[in.Name]
			}
		}
	}
	inputs, err := checkInputs(d, given)
	if err != nil {
		return "", err
	}
	f := firing{def: d, workflow: w, trigger: fermata.TriggerWebhook, cause: cause, inputs: inputs, mustStart: true}
	if id, ok := cause["id"].(string); ok {
		f.key = "webhook/" + w.Name + "/" + hashLongKey(id)
	}
	var started string
	err = s.db.Write(ctx, w.WorkspaceID, func(tx *store.Tx) error {
		var err error
		started, err = s.fire(tx, f)
		return err
	})
	return started, err
}
