package email

import (
	"fmt"
	"strings"
	"testing"
)

// personWords returns the person's words in a reply, if Fermata knows nothing of the mail before it.
func personWords(s string) string {
	text, _, _ := splitQuotations(s).read(nil, "")
	return text
}

func TestWritten(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"alone", "B\n", "B"},
		{"blank lines", "\n\n  B  \n\n", "B"},
		{"paragraphs", "toml\n\nBecause of the tools.\nReally.", "toml\n\nBecause of the tools.\nReally."},
		{"quotation", "B\n> Which?\n", "B"},
		{"quotation of a bar", "B\n│ Which?\n", "B"},
		{"answer below", "> Which?\n\nB\n", ""},
		{"signature", "B\n-- \nAda\nLovelace Ltd.", "B"},
		{"signature without its space", "B\n--\nAda", "B"},
		{"line", "B\n\n____________\nFrom: x\n", "B"},
		{"original message", "B\n\n-----Original Message-----\nFrom: x", "B"},
		{"ursprüngliche", "B\n\n-----Ursprüngliche Nachricht-----\nVon: x", "B"},
		{"phone", "approve\n\nSent from my iPhone", "approve"},
		{"regards", "B\n\nBest regards,\nAda\nExample Ltd. · +44 20 7946 0000", "B"},
		{"gruß", "ja\n\nViele Grüße\nAda", "ja"},
		{"mfg", "B\n\nMit freundlichen Grüßen\n\nAda Lovelace", "B"},
		{"thanks", "reject: not today\n\nThanks!\nAda", "reject: not today\n\nThanks!\nAda"},
		{"words below thanks", "ok\n\nThanks\nNot yet", "ok\n\nThanks\nNot yet"},
		{"postscript", "ok\n\nKind regards\nAda\n\nPS: not before Monday", "ok\n\nKind regards\nAda\n\nPS: not before Monday"},
		{"regards above a quotation", "B\n\nCheers\nAda\n\n> Which?\n> " + strings.Repeat("long ", 40), "B"},
		{"regards alone", "Best regards", "Best regards"},
		{"thanks within a text", "Thanks\nfor asking. We take TOML.", "Thanks\nfor asking. We take TOML."},
		{"regards above more words", "B\n\nBest regards\n" + strings.Repeat("and now a long story about everything that happened since ", 3), "B\n\nBest regards\n" + strings.TrimSpace(strings.Repeat("and now a long story about everything that happened since ", 3))},
		{"telefon", "ja\n\nVon meinem iPhone gesendet", "ja"},
		{"outlook", "B\n\nGet Outlook for Android", "B"},
		{"on", "B\n\nOn Fri, 20 Nov 2026 at 10:00, Fermata <f@x.test> wrote:\n> Which?", "B"},
		{"on, broken", "B\n\nOn Fri, 20 Nov 2026 at 10:00, Fermata\n<f@x.test> wrote:\n\n> Which?", "B"},
		{"am", "B\n\nAm 20.11.26 um 10:00 schrieb Fermata:\n> Which?", "B"},
		{"schrieb am", "B\n\nFermata <f@x.test> schrieb am Fr., 20. Nov. 2026, 10:00:\n> Which?", "B"},
		{"le", "B\n\nLe ven. 20 nov. 2026 à 10:00, Fermata <f@x.test> a écrit :\n> Which?", "B"},
		{"el", "B\n\nEl vie, 20 nov 2026 a las 10:00, Fermata (<f@x.test>) escribió:\n> Which?", "B"},
		{"japanese", "B\n\n2026年11月20日(金) 10:00 Fermata <f@x.test>:\n> Which?", "B"},
		{"russian", "B\n\nпт, 20 нояб. 2026 г. в 10:00, Fermata <f@x.test>:\n> Which?", "B"},
		{"without a blank line", "2\nOn Fri, 20 Nov 2026 at 10:00, Fermata wrote:\n> Which?", "2"},
		{"a date", "2026-11-20\n\nFermata <f@x.test> wrote:\n> When?", "2026-11-20"},
		{"a colon that introduces nothing", "reject: we wait for\nthe review:\n> Deploy?", "reject: we wait for\nthe review:"},
		{"head of a mail", "B\n\nFrom: Fermata <f@x.test>\nSent: Friday, 20 November 2026 10:00\nTo: Ada\nSubject: Which?\n\nWhich?", "B"},
		{"kopf", "B\n\nVon: Fermata <f@x.test>\nGesendet: Freitag, 20. November 2026 10:00\nAn: Ada\nBetreff: Which?\n", "B"},
		{"bold head", "B\n\n*From:* Fermata <f@x.test>\n*Sent:* Friday, 20 November 2026\n*To:* Ada\n", "B"},
		{"web.de, GMX", "B\n\nGesendet: Freitag, 20. November 2026 um 10:00 Uhr\nVon: \"Fermata\" <f@x.test>\nAn: ada@x.test\nBetreff: Blocking question: Which?\nWhich?", "B"},
		{"aw", "B\n\nVon: Fermata <f@x.test>\nDatum: Freitag, 20. November 2026 um 10:00\nAn: Ada <ada@x.test>\nBetreff: AW: Which?\n\nWhich?", "B"},
		{"am, not quoted", "B\n\nAm 20.11.26, 10:00 schrieb \"Fermata\" <f@x.test>:\n\n    Which?\n    A  TOML", "B"},
		{"am, not quoted and broken", "B\n\nAm Fr., 20. Nov. 2026 um 10:00 Uhr schrieb Fermata <\nf@x.test>:\n\nWhich?", "B"},
		{"schrieb am, not quoted", "B\n\nFermata <f@x.test> schrieb am Fr., 20. Nov. 2026, 10:00:\n\nWhich?", "B"},
		{"on, not quoted", "B\n\nOn Fri, 20 Nov 2026 at 10:00, Fermata <f@x.test> wrote:\n\nWhich?", "B"},
		{"a story of one's own", "On 3 May Bob wrote:\nlet us wait", "On 3 May Bob wrote:\nlet us wait"},
		{"outlook auf dem telefon", "B\n\nOutlook für Android<https://aka.ms/x> beziehen", "B"},
		{"outlook auf dem iphone", "B\n\nHolen Sie sich Outlook für iOS<https://aka.ms/x>", "B"},
		{"k9", "B\n\nAm 20. November 2026 10:00:00 MEZ schrieb Fermata <f@x.test>:\n>Which?", "B"},
		{"samsung", "B\n\nVon meinem Galaxy gesendet\n\n\n-------- Ursprüngliche Nachricht --------\nVon: x", "B"},
		{"items", "from: postgres\nto: sqlite\nwhen: later", "from: postgres\nto: sqlite\nwhen: later"},
		{"space that does not break", "B\u00a0\n\u00a0\n> x", "B"},
		{"nothing", "\n> x\n", ""},
		{"dashes as a list", "- one\n- two", "- one\n- two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := personWords(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHTMLText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"lines", "<div>B</div><div>because</div>", "B\nbecause"},
		{"break", "B<br>because", "B\nbecause"},
		{"space", "<p>one\n  <b>two</b> three</p>", "one two three"},
		{"entities", "a &amp; b &lt;c&gt;", "a & b <c>"},
		{"style and script", "<style>x{}</style><script>y</script>B", "B"},
		{"gmail", `<div dir="ltr">B</div><div class="gmail_quote gmail_quote_container">On Friday<blockquote>x</blockquote></div>`, "B"},
		{"outlook", `<p>B</p><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From: x</div>`, "B"},
		{"thunderbird", `<p>B</p><div class="moz-cite-prefix">Am 20.11.</div><blockquote>x</blockquote>`, "B"},
		{"apple", `B<br><blockquote type="cite">x</blockquote>`, "B"},
		{"nothing hidden", `<div style="display: none; max-height:0">reject</div><span hidden>no</span><p style="VISIBILITY:hidden !important">x</p><i style="font-size:0px">x</i>B<b style="mso-hide:all">x</b>`, "B"},
		{"small is not hidden", `<p style="font-size:0.9em; opacity:0.8; display:nonesuch">B</p>`, "B"},
		{"answer below", `<blockquote>x</blockquote>B`, ""},
		{"words below a quotation", `<p>approve</p><blockquote>x</blockquote><p>No, not yet</p>`, "approve\nNo, not yet"},
		{"words below a quotation of gmail", `<div>ok</div><div class="gmail_quote"><div class="gmail_attr">On</div><blockquote>x</blockquote><div>but wait</div></div>`, "ok\nbut wait"},
		{"words below a rule", `<p>ok</p><hr><p>not yet</p>`, "ok\n________________\nnot yet"},
		{"words in a signature", `<p>ok</p><div class="moz-signature">not yet</div>`, "ok\n-- \nnot yet"},
		{"words for a picture", `approve<img src="cid:x" alt="not yet">`, "approve not yet"},
		{"a signature", `<p>ok</p><div class="gmail_signature">Ada<br>Example Ltd.</div>`, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if text, _ := htmlText(tt.in); personWords(text) != tt.want {
				got := personWords(text)
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzTextOf(f *testing.F) {
	f.Add([]byte("Content-Type: text/plain\n\nB\n> x"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>B\n--b--"))
	f.Add([]byte("Content-Type: text/plain; format=flowed; delsp=yes\nContent-Transfer-Encoding: base64\n\nQQ=="))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, _, _ := textOf(raw).read(nil, ""); len(s) > 4*longestReply {
			t.Errorf("%d bytes are handed on", len(s))
		}
	})
}

// Words below a quotation or a line of dashes are text, unless they are a signature. Lines that only begin like the
// signature of a mail program are text, too.
func TestWordsBelowAreText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"approve\n> Ship?\nNo, not yet!": "approve\nNo, not yet!",
		"approve\n\nOn Sat, Fermata <f@x.test> wrote:\n> Ship?\n> sha\n\nNo wait, do not!": "approve\nNo wait, do not!",
		"ok\n\nOn Fri, 20 Nov 2026 at 10:00, Fermata <f@x.test> wrote:\n\n> x\nbut wait":   "ok\nbut wait",
		"approve\n\nSent from my iPhone. Not yet!":                                         "approve\n\nSent from my iPhone. Not yet!",
		"approve\n--\nNo, not yet!":                                                        "approve\n--\nNo, not yet!",
		"ok\nLG\nnoch nicht!":                                                              "ok\nLG\nnoch nicht!",
		"approve\nBut wait until 12:30:\n> x":                                              "approve\nBut wait until 12:30:",
		"approve\nBut wait until 12:30, bob@x.test wrote:\n> x":                            "approve\nBut wait until 12:30, bob@x.test wrote:",
		"ok\n> x\n-- \nAda aus München":                                                    "ok",
		"ok\n> x\n\nKind regards\nAda":                                                     "ok",
	} {
		if got := personWords(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Below the head of a quoted mail whose lines are not marked, only words that Fermata sent are left out.
func TestAnOriginalIsWhatWeSent(t *testing.T) {
	t.Parallel()
	l := &letter{Subject: "Approval: Deploy 4.2?"}
	if err := l.fill(page{Head: "Approval from builder", Title: "Deploy 4.2?", Body: "All checks pass.\nThe release is ready.", Facts: []string{"Question q_1"}, Text: "Approval: Deploy 4.2?\n\n│ All checks pass.\n│ The release is ready.\n\nOpen: https://fermata.example/q/q_1"}); err != nil {
		t.Fatal(err)
	}
	sent := wordSet{}
	sent.add(l.Subject + "\n" + l.Text)
	sent.add(allText(l.HTML))
	sent = readWordSet(sent.String())
	// Outlook converts the HTML to text in this way.
	converted := "Approval from builder\n\nDeploy 4.2?\nAll checks pass.\nThe release is\nready.\nQuestion q_1\n"
	heads := []string{
		"\n________________________________\nFrom: Fermata <f@x.test>\nSent: Friday, 20 November 2026 10:00\nTo: Ada\nSubject: Approval: Deploy 4.2?\n\n", "\n-----Original Message-----\n",
		"\nVon: Fermata <f@x.test>\nGesendet: Freitag, 20. November 2026 10:00\nAn: Ada\nBetreff: Approval: Deploy 4.2?\n\n", "\nOn Fri, 20 Nov 2026 at 10:00, Fermata <f@x.test> wrote:\n\n",
		"\n-------- Ursprüngliche Nachricht --------\nVon: Fermata\nDatum: 20.11.26 10:00\nAn: Ada\nBetreff: x\n\n",
	}
	for _, head := range heads {
		for below, want := range map[string]bool{
			l.Text: false, converted: false, "": false, converted + "\n-- \nAda Lovelace": false, "Deploy 4.2?<https://fermata.example/q/q_1> All checks": false,
			"No, not yet!": true, "No": true, converted + "\nNo wait, do not!": true, "No\n" + l.Text: true, "👎": true,
			"Approval from builder\n\nDeploy 4.2?\nnot yet\nAll checks pass.": true,
		} {
			text, _, unknown := splitQuotations("approve\n"+head+below).read(sent, "")
			if text != "approve" || unknown != want {
				t.Errorf("%q: %q, unknown %t", head+below, text, unknown)
			}
		}
		if _, _, unknown := splitQuotations("approve\n"+head+l.Text).read(nil, ""); !unknown {
			t.Errorf("%q: a mail of which nothing is known is taken for one of ours", head)
		}
	}
	// A quotation whose lines a program broke is recognized, too.
	if text, _, _ := splitQuotations("approve\n> All checks pass. The\nrelease is ready.").read(sent, ""); text != "approve" {
		t.Errorf("a broken quotation became %q", text)
	}
}

// If the person saw a second text beside the one that is read, the reply is doubtful.
func TestSeveralTextsAreDoubtful(t *testing.T) {
	t.Parallel()
	part := func(kind, text string) string { return "Content-Type: " + kind + "\r\n\r\n" + text }
	mail := func(kind string, parts ...string) []byte {
		return []byte("Content-Type: " + kind + "; boundary=b\r\n\r\n--b\r\n" + strings.Join(parts, "\r\n--b\r\n") + "\r\n--b--\r\n")
	}
	picture := "Content-Type: image/png; name=x.png\r\nContent-Disposition: inline; filename=x.png\r\nContent-Transfer-Encoding: base64\r\n\r\nQUFB"
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"apple":                     {mail("multipart/mixed", part("text/plain", "approve"), picture, part("text/plain", "but not before Bob has looked")), severalDoubt},
		"mixed":                     {mail("multipart/mixed", part("text/plain", "ok"), part("text/plain", "Not yet")), severalDoubt},
		"parallel":                  {mail("multipart/parallel", part("text/plain", "ok"), part("text/plain", "Not yet")), severalDoubt},
		"plain, then HTML":          {mail("multipart/mixed", part("text/plain", "approve"), part("text/html", "<p>but not before Monday</p>")), severalDoubt},
		"HTML, picture, HTML":       {mail("multipart/mixed", part("text/html", "<p>approve</p>"), picture, part("text/html", "<p>not yet</p>")), severalDoubt},
		"a file in place":           {mail("multipart/mixed", part("text/plain", "approve"), "Content-Type: text/plain; name=a.txt\r\nContent-Disposition: inline; filename=a.txt\r\n\r\nnot now"), severalDoubt},
		"related":                   {mail("multipart/related", part("text/plain", "approve"), part("text/html", "<p>reject</p>")), severalDoubt},
		"a list footer":             {mail("multipart/mixed", part("text/plain", "approve"), part("text/plain", "_____\r\nA list")), severalDoubt},
		"another text":              {mail("multipart/mixed", part("text/plain", "approve"), part("text/enriched", "not yet")), severalDoubt},
		"a mail within":             {mail("multipart/mixed", part("text/plain", "approve"), part("message/rfc822", "Subject: x\r\n\r\nnot yet")), severalDoubt},
		"no type":                   {mail("multipart/mixed", part("text/plain", "approve"), "\r\nnot yet"), severalDoubt},
		"alternatives":              {mail("multipart/alternative", part("text/plain", "approve"), part("text/html", "<p>approve</p>")), ""},
		"alternatives turned round": {mail("multipart/alternative", part("text/html", "<p>approve</p>"), part("text/plain", "approve")), ""},
		"a picture below":           {mail("multipart/mixed", part("text/plain", "approve"), picture), ""},
		"nothing below":             {mail("multipart/mixed", part("text/plain", "approve"), picture, part("text/plain", "\r\n\r\n"), part("text/html", "<html><head></head><body><br></body></html>")), ""},
		"a file":                    {mail("multipart/mixed", part("text/plain", "approve"), "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nnot now"), ""},
		"signed":                    {mail("multipart/signed", part("text/plain", "approve"), part("application/pgp-signature", "x")), ""},
		"too long":                  {[]byte("Content-Type: text/plain\r\n\r\napprove" + strings.Repeat("\r\n", longestPart) + "not yet"), longDoubt},
	} {
		if found := textOf(tt.raw); found.aboveQuote != "approve" && found.aboveQuote != "ok" || found.doubt != tt.want || (found.remedy == "") != (tt.want == "") {
			t.Errorf("%s: %q, %q", name, found.aboveQuote, found.doubt)
		}
	}
}

func TestTextBelowAttachments(t *testing.T) {
	t.Parallel()
	const head = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
	const tail = "\r\n--b\r\nContent-Type: text/plain\r\n\r\nB\r\n--b--\r\n"
	for name, part := range map[string]string{
		"attachment":                     "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nA",
		"shown in place":                 "Content-Type: text/plain\r\nContent-Disposition: inline; filename=a.txt\r\n\r\nA",
		"with a name alone":              "Content-Type: text/plain; name=\"a.txt\"\r\n\r\nA",
		"a page":                         "Content-Type: text/html; name=a.html\r\nContent-Disposition: inline\r\n\r\n<p>A",
		"a picture":                      "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nQUFB",
		"a forwarded mail":               "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nA",
		"an attachment named by RFC2231": "Content-Type: text/plain\r\nContent-Disposition: inline; filename*=utf-8''%C3%A4.txt\r\n\r\nA",
	} {
		if got := textOf([]byte(head + part + tail)).aboveQuote; got != "B" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestUTF7(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"reject: zu sp+AOQ-t, 1 +- 1": "reject: zu spät, 1 + 1", "+2D3cTQ-": "👍", "Hi Mom +Jjo!": "Hi Mom ☺!", "+ZeVnLIqe-": "日本語", "plain": "plain", "1 + 1": "1 + 1", "+": "+",
	} {
		if got := decodeUTF7(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		mail := fmt.Sprintf("Content-Type: text/plain; charset=UTF-7\r\n\r\n%s\r\n> x", in)
		if got := textOf([]byte(mail)).aboveQuote; got != want {
			t.Errorf("in a mail %q became %q, want %q", in, got, want)
		}
	}
}

// HTML that may hide a part of its text is doubtful. The HTML that mail programs write is not.
func TestHiddenTextIsDoubtful(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		html string
		want bool
	}{
		"no style":              {`<div dir="ltr">A</div>`, false},
		"a class without style": {`<div class="gmail_default">A</div>`, false},
		"outlook on the web":    {`<style type="text/css" style="display:none;"> P {margin-top:0;margin-bottom:0;} </style><div>A</div>`, false},
		"comments and fonts":    {`<style><!-- /* x */ p.MsoNormal, li {margin:0cm; font-family:"Calibri",sans-serif} --></style><p>A</p>`, false},
		"inline colours":        {`<div style="color:rgb(0,0,0);font-size:12pt;background-color:#fff">A</div>`, false},
		"hidden in the element": {`<p style="display:none">toml</p><p>A</p>`, false},
		"a hidden class":        {`<style>.x{display:none}</style><p class="x">toml</p><p>A</p>`, true},
		"in the body":           {`<p class="x">toml</p><p>A</p><style>.x{font-size:0}</style>`, true},
		"white on white":        {`<style>.x{color:#fff}</style><p class="x">toml</p><p>A</p>`, true},
		"out of sight":          {`<style>.x{margin-left:-9999px}</style><p class="x">toml</p><p>A</p>`, true},
		"for some screens":      {`<style>@media screen {.x{display:none}}</style><p class="x">toml</p><p>A</p>`, true},
		"from elsewhere":        {`<link rel="stylesheet" href="https://example.com/x.css"><p class="x">toml</p><p>A</p>`, true},
		"imported":              {`<style>@import "https://example.com/x.css";</style><p>A</p>`, true},
		"escaped":               {`<style>.x{d\69splay:none}</style><p class="x">toml</p><p>A</p>`, true},
		"in what is quoted":     {`<p class="x">toml</p><p>A</p><blockquote><style>.x{display:none}</style>x</blockquote>`, true},
		"moved by the element":  {`<p style="position: absolute; left: -9999px">toml</p><p>A</p>`, true},
		"transparent":           {`<p style="color:transparent">toml</p><p>A</p>`, true},
		"far away":              {`<style>.x{margin:9999px}</style><p class="x">toml</p><p>A</p>`, true},
		"far below":             {`<style>.x{margin: 0 9999px}</style><p class="x">toml</p><p>A</p>`, true},
		"white":                 {`<p style="color: #FFFFFF">toml</p><p>A</p>`, true},
		"a white font":          {`<font color="white">toml</font><p>A</p>`, true},
		"small margins":         {`<style>p { margin: 0 0 12px; padding:0 !important }</style><p>A</p>`, false},
		"escaped in place":      {`<p style="d\69splay:none">toml</p><p>A</p>`, true},
		"sizes":                 {`<p style="height:auto;width:100%;line-height:1.5;font-size:0.9em">A</p>`, false},
		"no height":             {`<div style="height:0;overflow:hidden">toml</div><p>A</p>`, true},
		"one pixel":             {`<p style="font-size:1px">toml</p><p>A</p>`, true},
		"no embedded thing":     {`<p><noembed>approve: </noembed>do not deploy this</p>`, true},
		"popover":               {`<span popover>approve: </span>do not deploy`, true},
		"struck":                {`<p><s>approve</s></p>`, true},
		"deleted":               {`<p><del>approve</del></p>`, true},
		"struck of old":         {`<strike>approve</strike>`, true},
		"struck by a style":     {`<p style="text-decoration:line-through">approve</p>`, true},
		"white on a white body": {`<body text="#ffffff" bgcolor="#ffffff"><p>approve</p></body>`, true},
		"black on black":        {`<p style="background-color:#000">toml</p><p>A</p>`, true},
		"no size of a table":    {`<table width=0 height=0><tr><td>approve</td></tr></table><p>do not</p>`, true},
		"an unknown element":    {`<marquee>approve</marquee>`, true},
		"an unknown attribute":  {`<p inert>approve</p>`, true},
		"an unknown style":      {`<p style="rotate:180deg">approve</p>`, true},
		"shown after all":       {`<p style="display:none;display:block">not yet</p><p>A</p>`, true},
		"shown within":          {`<p style="visibility:hidden">x<b style="visibility:visible">not yet</b></p><p>A</p>`, true},
		"hidden in Word alone":  {`<p style="mso-hide:all">not yet</p><p>A</p>`, true},
		"turned round":          {`<bdo dir="rtl">evorppa</bdo>`, true},
		"in capitals":           {`<p style="text-transform:uppercase">a</p>`, true},
		"signs for letters":     {`<font face="Wingdings">A</font>`, true},
		"a tiny font":           {`<p style="font:1px Arial">toml</p><p>A</p>`, true},
		"lines on each other":   {`<p style="line-height:0.1">toml<br>A</p>`, true},
		"far by its padding":    {`<p style="padding-left:9999px">toml</p><p>A</p>`, true},
		"a picture above it":    {`<p>A</p><img src="cid:x" style="position:absolute;top:0">`, true},
		"thunderbird":           {`<html><head><meta http-equiv="content-type" content="text/html; charset=UTF-8"></head><body text="#000000" bgcolor="#FFFFFF"><p>A<br></p></body></html>`, false},
		"outlook":               {`<body lang="EN-US" link="#0563C1" vlink="#954F72" style="word-wrap:break-word"><p class="MsoNormal"><span style="font-size:11.0pt;mso-fareast-language:EN-US">A<o:p></o:p></span></p></body>`, false},
		"outlook on the web 2":  {`<div class="elementToProof" style="font-family: Aptos, sans-serif; font-size: 12pt; color: rgb(0, 0, 0);">A</div>`, false},
		"apple":                 {`<html><head><meta http-equiv="content-type" content="text/html"></head><body style="overflow-wrap: break-word; -webkit-nbsp-mode: space; line-break: after-white-space;">A<br id="lineBreakAtBeginningOfMessage"></body></html>`, false},
		"a picture":             {`<p>A</p><img width="80" height="20" src="cid:x" alt="">`, false},
		"words for a picture":   {`<p>A</p><img src="cid:x" alt="Acme Ltd">`, false},
		"folded":                {`<details><summary>A</summary>toml</details>`, true},
	} {
		if _, got := htmlText(tt.html); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
