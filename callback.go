package fermata

import "net/url"

// maxCallbackURL is the maximum length of a callback URL, in characters.
const maxCallbackURL = 2048

// checkCallback refuses an address to which no outcome can be posted. It also
// refuses a callback for a task that workers run, because the next run of that
// task gets the answer.
func (a Ask) checkCallback(ps *problems, t *Task) {
	if a.CallbackURL == "" {
		return
	}
	if t.Runner != RunnerExternal {
		ps.add("callback_url", "is allowed only for external tasks: the next run of this task gets the answer")
	}
	ps.checkText("callback_url", a.CallbackURL, 0, maxCallbackURL)
	u, err := url.Parse(a.CallbackURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		ps.add("callback_url", "is no address such as https://example.com/answers")
	}
}
