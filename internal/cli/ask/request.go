package ask

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// request builds the request from the flags and the file. Flags and file together may give each part only once.
func (c *Command) request(s *session.Session) (client.OutsideQuestion, error) {
	for flag, text := range map[string]string{"question": c.Question, "--title": c.Title, "--step": c.Step} {
		if err := session.CheckNotDash(flag, text); err != nil {
			return client.OutsideQuestion{}, err
		}
	}
	inFile, err := c.fileFields(s)
	if err != nil {
		return client.OutsideQuestion{}, err
	}
	inFlags, err := c.flagFields(s, inFile)
	if err != nil {
		return client.OutsideQuestion{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(inFlags)) {
		if _, twice := inFile[name]; twice {
			return client.OutsideQuestion{}, fermata.Errorf(fermata.CodeInvalidRequest, "the file of --items says %s, and the command line says it as well", name).
				WithHint("say it in one of the two places")
		}
	}
	maps.Copy(inFile, inFlags)
	var o client.OutsideQuestion
	if err := session.DecodeFields(inFile, &o); err != nil {
		return o, err
	}
	if o.Question == "" && o.Title == "" && len(o.Items) == 0 && len(o.Questions) == 0 {
		return o, fermata.Errorf(fermata.CodeInvalidRequest, "say what to ask").WithHint(`fermata ask "Which one?" --wait`)
	}
	if o.ResponseType == "" && len(o.Options) > 0 {
		o.ResponseType = fermata.ResponseChoice
	}
	return o, c.addDefault(&o.Ask)
}

// fileFields reads the file of --items: a list of items, or a whole request.
func (c *Command) fileFields(s *session.Session) (session.Fields, error) {
	if c.Items == "" {
		return session.Fields{}, nil
	}
	data, err := s.ReadFile("--items", c.Items, session.MaxFileSize)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		c.hasList = true
		var items []fermata.Item
		if err := session.UnmarshalFile("--items", c.Items, data, &items); err != nil {
			return nil, err
		}
		return session.Fields{"items": data}, c.checkLists(fermata.Ask{Items: items})
	}
	var o client.OutsideQuestion
	if err := session.UnmarshalFile("--items", c.Items, data, &o); err != nil {
		return nil, err
	}
	given, err := strictjson.Fields(data)
	if err == nil && len(given) == 0 {
		err = session.FlagErrorf("--items", "%s says nothing", session.FileLabel(c.Items))
	}
	if err != nil {
		return nil, err
	}
	return given, c.checkLists(o.Ask)
}

// checkLists refuses an empty list. Such a list comes from a script that found nothing, and would change the meaning of
// the question.
func (c *Command) checkLists(a fermata.Ask) error {
	emptyListError := func(what string) error {
		return session.FlagErrorf("--items", "%s has a list of no %s", session.FileLabel(c.Items), what).WithHint("leave the list out, or put something into it")
	}
	switch {
	case isEmpty(a.Items), isEmpty(a.Questions):
		return emptyListError("items")
	case isEmpty(a.Options),
		slices.ContainsFunc(a.Items, func(it fermata.Item) bool { return isEmpty(it.Options) }),
		slices.ContainsFunc(a.Questions, func(q fermata.UserQuestion) bool { return isEmpty(q.Options) }):
		return emptyListError("options")
	}
	return nil
}

// isEmpty reports whether a list is present but has no elements.
func isEmpty[T any](list []T) bool { return list != nil && len(list) == 0 }

// flagFields returns the fields that the flags give. If there are items, the question on the command line becomes
// their headline.
func (c *Command) flagFields(s *session.Session, inFile session.Fields) (session.Fields, error) {
	a := fermata.Ask{
		Type: c.Kind, Title: c.Title, Question: c.Question, ResponseType: c.Type, Other: c.Other,
		Assignees: c.Assign, Channels: c.Via, Reminders: c.Remind, ShareContext: c.ShareContext, Timeout: c.Timeout, OnTimeout: c.OnTimeout,
		AllowDangerDefault: c.AllowDangerDefault, Priority: c.Priority, Risk: c.Risk, IdempotencyKey: c.Key, DedupeKey: c.DedupeKey,
		RunID: c.RunID, CallbackURL: c.CallbackURL, Metadata: c.Metadata, Confidence: c.Confidence,
	}
	if (inFile["items"] != nil || inFile["questions"] != nil) && a.Title == "" {
		a.Title, a.Question = a.Question, ""
	}
	if c.Default != nil {
		a.Default = *c.Default
	}
	for _, add := range []func(*session.Session, *fermata.Ask) error{c.addOptions, c.addQuorum, c.addTexts, c.addContext, c.addEscalation} {
		if err := add(s, &a); err != nil {
			return nil, err
		}
	}
	return session.ToFields(client.OutsideQuestion{Project: c.Project, Session: c.Session, Ask: a})
}

func (c *Command) addOptions(_ *session.Session, a *fermata.Ask) error {
	for _, text := range c.Option {
		v, label, _ := strings.Cut(text, "=")
		a.Options = append(a.Options, fermata.Option{
			Value: v, Label: label,
			Recommended: slices.Contains(c.Recommend, v), Danger: slices.Contains(c.Danger, v),
		})
	}
	for _, v := range slices.Concat(c.Recommend, c.Danger) {
		if !slices.ContainsFunc(a.Options, func(o fermata.Option) bool { return o.Value == v }) {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%q is marked, but is no option", v)
		}
	}
	switch {
	case !c.Multi:
	case c.Type != "" && c.Type != fermata.ResponseMultiChoice:
		return fermata.Errorf(fermata.CodeInvalidRequest, "--multi asks for several options, and --type for %s", c.Type).WithHint("leave one of them out")
	default:
		a.ResponseType = fermata.ResponseMultiChoice
	}
	return nil
}

func (c *Command) addQuorum(_ *session.Session, a *fermata.Ask) error {
	if c.Approvals == nil && !c.SelfApproval && c.RejectAt == "" {
		return nil
	}
	a.Approvals = &fermata.Quorum{Self: c.SelfApproval, Reject: c.RejectAt}
	if c.Approvals == nil {
		return nil
	}
	if *c.Approvals < 1 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--approvals: %d people cannot approve; name 1 or more", *c.Approvals)
	}
	a.Approvals.Required = *c.Approvals
	return nil
}

func (c *Command) addTexts(s *session.Session, a *fermata.Ask) error {
	var err error
	if a.Body, err = s.TextOrFile("--body", c.Body); err != nil {
		return err
	}
	if a.Action, err = s.JSONOrText("--action", c.Action); err != nil {
		return err
	}
	a.State, err = s.JSONOrText("--state", c.State)
	return err
}

func (c *Command) addContext(s *session.Session, a *fermata.Ask) error {
	if c.Context == "" && c.Step == "" && c.Error == "" {
		if c.ContextKind != "" {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--context-kind says what the context is, and there is none").WithHint("give it with --context")
		}
		return nil
	}
	text, err := s.TextOrFile("--context", c.Context)
	if err != nil {
		return err
	}
	a.Context = &fermata.QuestionContext{Step: c.Step}
	if c.Context != "" {
		a.Context.Preview = &fermata.Preview{Kind: c.contextKind(), Text: text}
	}
	a.Context.Error, err = s.TextOrFile("--error", c.Error)
	return err
}

// contextKind returns the kind of the context. If no flag gives it, the extension of the file decides.
func (c *Command) contextKind() string {
	if c.ContextKind != "" {
		return c.ContextKind
	}
	switch filepath.Ext(c.Context) {
	case ".diff", ".patch":
		return "diff"
	case ".json":
		return "json"
	case ".sh":
		return "command"
	default:
		return "text"
	}
}

// addEscalation reads the escalation levels: a list, or a single one.
func (c *Command) addEscalation(s *session.Session, a *fermata.Ask) error {
	text, err := s.TextOrFile("--escalation", c.Escalation)
	if err != nil || text == "" {
		return err
	}
	file, _ := strings.CutPrefix(c.Escalation, session.FileMark)
	if file == c.Escalation {
		file = ""
	}
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") {
		text = "[" + text + "]"
	}
	if err := session.UnmarshalFile("--escalation", file, []byte(text), &a.Escalation); err != nil {
		return err
	}
	if len(a.Escalation) == 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--escalation has no level").WithHint("leave it out, or name who is asked next")
	}
	return nil
}

// addDefault reads the default as it would read an answer to the question. The default of several items is an object
// by their keys.
func (c *Command) addDefault(a *fermata.Ask) error {
	if c.Default == nil {
		return nil
	}
	it := fermata.Item{ResponseType: a.ResponseType, Options: a.Options, Other: a.Other}
	switch n := len(a.Items) + len(a.Questions); {
	case len(a.Items) == 1 && n == 1:
		it = a.Items[0]
	case n > 0:
		var byKey map[string]any
		if err := strictjson.Unmarshal([]byte(*c.Default), &byKey); err != nil {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--default: several items have a default each").WithHint(`write them by their keys: '{"q1": "yes", "q2": 3}'`)
		}
		a.Default = byKey
		return nil
	}
	if it.ResponseType == "" {
		it.ResponseType = impliedType(a, it)
	}
	v, err := notice.ParseValue(&it, *c.Default)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--default: %s", err)
	}
	a.Default = v
	return nil
}

// impliedType returns the response type that the server chooses if the request names none.
func impliedType(a *fermata.Ask, it fermata.Item) fermata.ResponseType {
	switch {
	case a.Type == fermata.Approval || len(a.Action) > 0:
		return fermata.ResponseApproval
	case len(it.Options) > 0:
		return fermata.ResponseChoice
	default:
		return fermata.ResponseText
	}
}
