package access

import (
	"html/template"
	"strings"
	texttemplate "text/template"
)

// letter is a mail with one link.
type letter struct {
	Subject, Button, Link, End string
	Lines                      []string
}

var plainLetter = texttemplate.Must(texttemplate.New("plain").Parse(`{{range .Lines}}{{.}}

{{end}}    {{.Link}}

{{.End}}
`))

var htmlLetter = template.Must(template.New("html").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Subject}}</title></head><body>
{{range .Lines}}<p>{{.}}</p>
{{end}}<p><a href="{{.Link}}">{{.Button}}</a></p>
<p>{{.End}}</p>
</body></html>
`))

func (l letter) render() (text, html string, err error) {
	var plain, marked strings.Builder
	if err := plainLetter.Execute(&plain, l); err != nil {
		return "", "", err
	}
	err = htmlLetter.Execute(&marked, l)
	return plain.String(), marked.String(), err
}
