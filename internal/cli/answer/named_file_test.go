package answer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

func TestAnAnswerMayNameAFile(t *testing.T) {
	t.Parallel()
	text := fermata.Item{Key: "why", Prompt: "Why?", ResponseType: fermata.ResponseText}
	choice := fermata.Item{Key: "tag", Prompt: "Which tag?", ResponseType: fermata.ResponseChoice, Options: rendertest.Options("@latest", "@next")}
	freeChoice := choice
	freeChoice.Other = new(true)
	file := clitest.WriteFile(t, "answer.md", "Use the old one.\nIt works.\n")
	for name, c := range map[string]struct {
		items []fermata.Item
		args  []string
		want  fermata.Answer
	}{
		"a text":              {[]fermata.Item{text}, []string{"@" + file}, fermata.Answer{Answer: "Use the old one.\nIt works."}},
		"an @ itself":         {[]fermata.Item{text}, []string{"@@anna"}, fermata.Answer{Answer: "@anna"}},
		"several words":       {[]fermata.Item{text}, []string{"@anna", "knows"}, fermata.Answer{Answer: "@anna knows"}},
		"an option":           {[]fermata.Item{choice}, []string{"@latest"}, fermata.Answer{Answer: "@latest"}},
		"an option of many":   {[]fermata.Item{freeChoice}, []string{"@next"}, fermata.Answer{Answer: "@next"}},
		"another answer":      {[]fermata.Item{freeChoice}, []string{"@" + file}, fermata.Answer{Answer: "Use the old one.\nIt works."}},
		"one of several":      {[]fermata.Item{text, choice}, []string{"@" + file, "@next"}, fermata.Answer{Answers: map[string]any{"why": "Use the old one.\nIt works.", "tag": "@next"}}},
		"by its key":          {[]fermata.Item{text, choice}, []string{"--answer", "tag=@latest", "--answer", "why=@" + file}, fermata.Answer{Answers: map[string]any{"why": "Use the old one.\nIt works.", "tag": "@latest"}}},
		"and a comment":       {[]fermata.Item{text}, []string{"no", "--comment", "@" + file}, fermata.Answer{Answer: "no", Comment: "Use the old one.\nIt works.\n"}},
		"a comment with an @": {[]fermata.Item{text}, []string{"no", "--comment", "@@anna knows"}, fermata.Answer{Answer: "no", Comment: "@anna knows"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, sent := newAnswerServer(t, &fermata.Question{ID: "q_01k5h2m9n0abcd3f9k2a", Type: fermata.Blocking, Status: fermata.Pending, Title: "Well?", Asked: fermata.Asked{Items: c.items}})
			code, _, talk := clitest.Run(t, "", append([]string{"--url", url, "respond", "3f9k2a"}, c.args...)...)
			c.want.Channel = "cli"
			if diff := cmp.Diff(c.want, *sent); code != session.ExitOK || diff != "" {
				t.Errorf("exit code %d: %s\n(-want +sent)\n%s", code, talk, diff)
			}
		})
	}
}

func TestAnAnswerThatNamesNoFile(t *testing.T) {
	t.Parallel()
	url, sent := newAnswerServer(t, &fermata.Question{
		ID: "q_01k5h2m9n0abcd3f9k2a", Type: fermata.Blocking, Status: fermata.Pending, Title: "Why?",
		Asked: fermata.Asked{
			Items: []fermata.Item{{Key: "why", Prompt: "Why?", ResponseType: fermata.ResponseText}},
		},
	})
	for _, args := range [][]string{{"@nothing.md"}, {"--answer", "why=@nothing.md"}} {
		code, _, talk := clitest.Run(t, "", append([]string{"--url", url, "respond", "3f9k2a"}, args...)...)
		if code != session.ExitUsage || sent.Answer != nil || !strings.Contains(talk, "there is no file nothing.md") || !strings.Contains(talk, "write @@ for") {
			t.Errorf("%q: exit code %d, sent %+v: %s", args, code, *sent, talk)
		}
	}
}
