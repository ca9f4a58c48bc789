package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// policyRow is one setting of a policy. A setting by type, by risk or by project has a row for each of its keys.
type policyRow struct {
	name, value string
	set         bool
}

// defaultSettings holds the default values of settings that a policy does not set.
var defaultSettings = map[string]string{
	"min_timeout": "5m", "max_timeout": "24h", "resumed_timeout": "never", "reminders": "1h,1d", "remind_every": "7d",
	"auto_confidence": "off", "ask_confidence": "off", "gate_default": "ask", "undo_seconds": "5", "least_assurance": "none",
	"least_assurance.high": "session", "least_assurance.critical": "passkey", "least_risk": "low", "least_risk.approval": "medium", "project_risk": "low", "link_answers": "low", "admin_assurance": "channel",
	"keep_tasks": "never", "keep_logs": "never", "keep_deliveries": "never",
}

// defaultSetting returns the default value of a setting that a policy does not set.
func defaultSetting(name string) string {
	field, key, _ := strings.Cut(name, ".")
	if field == "default_timeout" {
		return string(fermata.QuestionType(key).DefaultTimeout())
	}
	return cmp.Or(defaultSettings[name], defaultSettings[field])
}

// settingKeys returns the keys of a setting that has a value for each key, and nil for any other setting. For a
// setting by project, the keys are the projects in the policy.
func settingKeys(field reflect.StructField, byKey session.Fields) []string {
	if field.Type.Kind() != reflect.Map {
		return nil
	}
	if isByProject(field) {
		return append([]string{}, slices.Sorted(maps.Keys(byKey))...)
	}
	if field.Type.Key() == reflect.TypeFor[fermata.Risk]() {
		return []string{string(fermata.RiskLow), string(fermata.RiskMedium), string(fermata.RiskHigh), string(fermata.RiskCritical)}
	}
	var keys []string
	for _, t := range fermata.QuestionTypes {
		if settingName(field) != "resumed_timeout" || t.Suspends() {
			keys = append(keys, string(t))
		}
	}
	return keys
}

// isByProject reports whether a setting has a value for each project.
func isByProject(field reflect.StructField) bool {
	return field.Type.Kind() == reflect.Map && field.Type.Key() == reflect.TypeFor[string]()
}

func settingName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// policyRows returns every setting that a policy can have, in the order of the policy's fields.
func policyRows(p fermata.Policy) ([]policyRow, error) {
	all, err := session.ToFields(p)
	if err != nil {
		return nil, err
	}
	var rows []policyRow
	for _, field := range reflect.VisibleFields(reflect.TypeFor[fermata.Policy]()) {
		name := settingName(field)
		if field.Type.Kind() != reflect.Map {
			rows = append(rows, newPolicyRow(name, all[name]))
			continue
		}
		byKey, err := keyedValues(all[name])
		if err != nil {
			return nil, err
		}
		for _, key := range settingKeys(field, byKey) {
			rows = append(rows, newPolicyRow(name+"."+key, byKey[key]))
		}
	}
	return rows, nil
}

// keyedValues returns the values of a setting that has a value for each of several keys.
func keyedValues(value json.RawMessage) (session.Fields, error) {
	if len(value) == 0 {
		return session.Fields{}, nil
	}
	return strictjson.Fields(value)
}

func newPolicyRow(name string, value json.RawMessage) policyRow {
	if len(value) == 0 {
		return policyRow{name: name, value: defaultSetting(name)}
	}
	var text string
	var list []string
	switch {
	case json.Unmarshal(value, &text) == nil:
	case json.Unmarshal(value, &list) == nil:
		if text = strings.Join(list, ","); len(list) == 0 {
			text = "none"
		}
	default:
		text = string(value)
	}
	return policyRow{name, text, true}
}

// policyDifference returns a line for each setting that differs in the second policy.
func policyDifference(before, after fermata.Policy) ([]string, error) {
	old, err := policyRows(before)
	if err != nil {
		return nil, err
	}
	rows, err := policyRows(after)
	if err != nil {
		return nil, err
	}
	oldByName, newByName := rowsByName(old), rowsByName(rows)
	var lines []string
	for _, name := range fermata.SortUnique(append(settingNames(old), settingNames(rows)...)) {
		from, to := settingOf(oldByName, name), settingOf(newByName, name)
		if from != to {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", name, describeSetting(from), describeSetting(to)))
		}
	}
	return lines, nil
}

func rowsByName(rows []policyRow) map[string]policyRow {
	all := make(map[string]policyRow, len(rows))
	for _, r := range rows {
		all[r.name] = r
	}
	return all
}

func settingNames(rows []policyRow) []string {
	all := make([]string, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.name)
	}
	return all
}

// settingOf returns the row of a setting. A project without a row has the default value.
func settingOf(rows map[string]policyRow, name string) policyRow {
	if r, ok := rows[name]; ok {
		return r
	}
	return newPolicyRow(name, nil)
}

func describeSetting(r policyRow) string {
	if r.set {
		return r.value
	}
	return r.value + " (default)"
}

// setPolicy returns the policy with another value of one setting. An empty value removes the setting, so that its
// default applies.
func setPolicy(p fermata.Policy, name, value string) (fermata.Policy, error) {
	top, key, hasKey := strings.Cut(name, ".")
	field, ok := policyField(top)
	isMap := ok && field.Type.Kind() == reflect.Map
	if !ok || hasKey && !isMap {
		return p, unknownSettingError(name)
	}
	if !hasKey && isMap && value != "" {
		return p, missingKeyError(field, value)
	}
	all, err := session.ToFields(p)
	if err != nil {
		return p, err
	}
	jsonName, jsonObject, typ := top, all, field.Type
	if hasKey {
		if jsonObject, err = keyedValues(all[top]); err != nil {
			return p, err
		}
		jsonName, typ = key, field.Type.Elem()
	}
	delete(jsonObject, jsonName)
	if value != "" {
		if jsonObject[jsonName], err = settingJSON(name, value, typ); err != nil {
			return p, err
		}
	}
	if hasKey {
		if all[top], err = json.Marshal(jsonObject); err != nil {
			return p, fmt.Errorf("write %s: %w", name, err)
		}
	}
	p = fermata.DefaultPolicy()
	return p, session.DecodeFields(all, &p)
}

// missingKeyError refuses a single value for a setting that has a value for each of several keys.
func missingKeyError(field reflect.StructField, value string) error {
	name, keys := settingName(field), settingKeys(field, nil)
	if isByProject(field) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s has a value for each project", name).WithHint("write %s.PROJECT=%s", name, value)
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s has a value for each of %s", name, strings.Join(keys, ", ")).
		WithHint("write %s.%s=%s", name, keys[0], value)
}

func policyField(name string) (reflect.StructField, bool) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[fermata.Policy]()) {
		if settingName(field) == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func unknownSettingError(name string) error {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[fermata.Policy]()) {
		names = append(names, settingName(field))
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "a policy has no setting %q", name).WithHint("it has %s", strings.Join(names, ", "))
}

// settingJSON converts the text of a setting to a value of its type.
func settingJSON(name, text string, typ reflect.Type) (json.RawMessage, error) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	var v any = text
	switch typ.Kind() {
	case reflect.Bool:
		on, ok := notice.ParseYesNo(text)
		if !ok {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s: %q is neither yes nor no", name, text)
		}
		v = on
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s: %q is no whole number", name, text)
		}
		v = n
	case reflect.Slice:
		list := []string{}
		if text != "none" {
			list = strings.Split(text, ",")
		}
		v = list
	default:
	}
	return json.Marshal(v)
}
