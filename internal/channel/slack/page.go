package slack

import (
	"fmt"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata/internal/notice"
)

// page collects the blocks of a message or form and keeps Slack's limits. Text
// of agents and people is put in boxes, and Fermata's own words never are. So
// no such text can look like Fermata's own.
type page struct {
	blocks []api.Block
	most   int
	room   int
	// cut reports whether something was left out.
	cut bool
}

// newMessage returns a page that keeps blocks and text free for the buttons and
// the last lines.
func newMessage() *page { return &page{most: maxBlocks - 8, room: roomOfMessage} }

func (p *page) add(b api.Block) bool {
	if len(p.blocks) >= p.most {
		p.cut = true
		return false
	}
	p.blocks = append(p.blocks, b)
	return true
}

func (p *page) header(s string) {
	p.add(api.NewHeaderBlock(plainBlock(cut(s, maxHeader))))
}

// say adds a line by Fermata, which may contain Slack's markup.
func (p *page) say(s string) { p.add(api.NewContextBlock("", markupBlock(s))) }

// box adds another person's text as a quotation.
func (p *page) box(s string, bold bool) {
	var style *api.RichTextSectionTextStyle
	if bold {
		style = &api.RichTextSectionTextStyle{Bold: true}
	}
	p.fill(notice.Clean(s), func(part string) api.RichTextElement {
		return &api.RichTextQuote{Type: api.RTEQuote, Elements: []api.RichTextSectionElement{api.NewRichTextSectionTextElement(part, style)}}
	})
}

// code adds another person's text in which every character matters.
func (p *page) code(s string) { p.addVisible(notice.Exact(s)) }

// addVisible adds text whose hidden characters were already made visible.
func (p *page) addVisible(s string) {
	p.fill(s, func(part string) api.RichTextElement {
		return &api.RichTextPreformatted{Type: api.RTEPreformatted, Elements: []api.RichTextSectionElement{api.NewRichTextSectionTextElement(part, nil)}}
	})
}

func (p *page) fill(s string, element func(string) api.RichTextElement) {
	if s == "" {
		return
	}
	if size(s) > p.room {
		p.cut = true
		s = cut(s, max(p.room, 1))
	}
	p.room -= size(s)
	for _, part := range pieces(s, roomOfBox) {
		if part == "" {
			part = " "
		}
		if !p.add(api.NewRichTextBlock("", element(part))) {
			return
		}
	}
}

// facts adds short facts on one line, each of them as plain text.
func (p *page) facts(facts ...string) {
	var elements []api.MixedElement
	for _, f := range facts {
		if f != "" && len(elements) < 10 {
			elements = append(elements, plainBlock(cut(notice.OneLine(f), maxHeader)))
		}
	}
	if len(elements) > 0 {
		p.add(api.NewContextBlock("", elements...))
	}
}

func quoteText(s string) string { return fmt.Sprintf("“%s”", cut(notice.OneLine(s), 100)) }
