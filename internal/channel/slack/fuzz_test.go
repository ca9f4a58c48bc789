package slack_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/notice"
	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

// FuzzHandler sends any signed body. The handler responds, and passes on only authors who are Slack users.
func FuzzHandler(f *testing.F) {
	server := remote.New()
	f.Cleanup(server.Close)
	settings := server.Settings()
	delete(settings, "app_token")
	channel := open(f, settings)
	person, _ := server.AddPerson("Ada")
	for kind, bodies := range map[string][]string{
		remote.JSON: {
			`{"type":"url_verification","challenge":"x"}`,
			`{"type":"event_callback","team_id":"T","event":{"type":"message","channel":"C","user":"` + person + `","text":"yes","ts":"1.2","thread_ts":"1.1"}}`,
			`{"type":"event_callback","event":{"type":"app_home_opened","user":"` + person + `"}}`,
			`{"type":"event_callback","event":{"type":"app_mention","user":"` + person + `","text":"<@U> yes","ts":"1","channel":"C"}}`,
		},
		remote.Form: {
			"command=%2Fanswer&text=q_1+yes&user_id=" + person, "ssl_check=1",
			"payload=" + `{"type":"block_actions","user":{"id":"` + person + `"},"actions":[{"action_id":"answer","value":"{}"}],"container":{"message_ts":"1.2"}}`,
			"payload=" + `{"type":"view_submission","user":{"id":"` + person + `"},"view":{"private_metadata":"{\"question\":\"q_1\"}","state":{"values":{}}}}`,
		},
	} {
		for _, body := range bodies {
			f.Add(kind, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		handler := channel.Handler(func(_ context.Context, in *notice.Inbound) (notice.Verdict, error) {
			if in.From.Kind != slack.Kind || in.From.ID == "" {
				t.Errorf("%q is heard from %+v", body, in.From)
			}
			return notice.Verdict{Code: fermata.CodeNotFound, Words: "There is no such question."}, nil
		})
		signed := remote.Sign(remote.Signature, time.Now(), kind, body)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/inbound/slack", bytes.NewReader(signed.Body))
		r.Header = signed.Header
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code == http.StatusUnauthorized {
			t.Errorf("%q was taken for a forgery", body)
		}
	})
}
