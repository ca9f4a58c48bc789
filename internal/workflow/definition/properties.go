package definition

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

var ownDocuments = sync.OnceValue(func() map[string]any {
	all := map[string]any{}
	for name, source := range map[string][]byte{"workflow.json": workflowSchema, "tools.json": toolSchemas} {
		var doc any
		if json.Unmarshal(source, &doc) == nil {
			all[name] = doc
		}
	}
	return all
})

// propertiesOf returns the keys that a schema allows at a URL. doc is the
// schema, or nil for the schemas of this package.
func propertiesOf(doc any, url string) []string {
	file, pointer, _ := strings.Cut(url, "#")
	file = file[strings.LastIndexByte(file, '/')+1:]
	at := doc
	if doc == nil {
		at = ownDocuments()[file]
	}
	for _, name := range strings.Split(strings.Trim(pointer, "/"), "/") {
		if name == "" {
			continue
		}
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(v) {
				at = v[i]
			}
		}
	}
	o, _ := at.(map[string]any)
	properties, _ := o["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
