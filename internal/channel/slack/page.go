package slack

import (
	"fmt"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata/internal/notice"
)

// page collects the blocks of a message or form within Slack's limits. Text of
// agents and people is put in boxes, and Fermata's own words never are. So no
// such text can look like Fermata's own.
type page struct {
	blocks    []api.Block
	maxBlocks int
	textLeft  int
	// truncated reports whether something was left out.
	truncated bool
}

// newMessage returns an empty page. Its limits leave room for the buttons and
// the last lines.
func newMessage() *page { return &page{maxBlocks: maxBlocks - 8, textLeft: maxMessageText} }

func (p *page) add(b api.Block) bool {
	if len(p.blocks) >= p.maxBlocks {
		p.truncated = true
		return false
	}
	p.blocks = append(p.blocks, b)
	return true
}

func (p *page) addHeader(s string) {
	p.add(api.NewHeaderBlock(plainBlock(cut(s, maxHeader))))
}

// addLine adds a line by Fermata, which may contain Slack's markup.
func (p *page) addLine(s string) { p.add(api.NewContextBlock("", markupBlock(s))) }

// addBox adds another person's text as a quotation.
func (p *page) addBox(s string, bold bool) {
	var style *api.RichTextSectionTextStyle
	if bold {
		style = &api.RichTextSectionTextStyle{Bold: true}
	}
	p.addText(notice.Clean(s), func(part string) api.RichTextElement {
		return &api.RichTextQuote{Type: api.RTEQuote, Elements: []api.RichTextSectionElement{api.NewRichTextSectionTextElement(part, style)}}
	})
}

// addCode adds another person's text in which every character matters.
func (p *page) addCode(s string) { p.addVisible(notice.CleanStrictly(s)) }

// addVisible adds text whose hidden characters were already made visible.
func (p *page) addVisible(s string) {
	p.addText(s, func(part string) api.RichTextElement {
		return &api.RichTextPreformatted{Type: api.RTEPreformatted, Elements: []api.RichTextSectionElement{api.NewRichTextSectionTextElement(part, nil)}}
	})
}

func (p *page) addText(s string, element func(string) api.RichTextElement) {
	if s == "" {
		return
	}
	if utf16Length(s) > p.textLeft {
		p.truncated = true
		s = cut(s, max(p.textLeft, 1))
	}
	p.textLeft -= utf16Length(s)
	for _, part := range splitText(s, maxBoxText) {
		if part == "" {
			part = " "
		}
		if !p.add(api.NewRichTextBlock("", element(part))) {
			return
		}
	}
}

// addFacts adds short facts on one line, each of them as plain text.
func (p *page) addFacts(facts ...string) {
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
