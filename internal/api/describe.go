package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
)

// schemaPrefix is the place of the schemas in the document.
const schemaPrefix = "#/components/schemas/"

// openAPIConfig returns the frame of the OpenAPI document. The server has no
// documentation page, because such a page would load scripts from other sites.
func openAPIConfig(version string) huma.Config {
	registry := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[fermata.Option](), reflect.TypeFor[anyOption]())
	registry.RegisterTypeAlias(reflect.TypeFor[fermata.EventType](), reflect.TypeFor[listedEventType]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Fermata", Version: version,
				Description: "Agents and workflows ask people, stop, and resume with the answer.",
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"bearer": {Type: "http", Scheme: "bearer", BearerFormat: "fmt_…"},
				},
			},
		},
		Formats: formats, DefaultFormat: "application/json", RejectUnknownQueryParameters: true,
	}
}

// optionObject is an option in its long form.
type optionObject fermata.Option

// anyOption replaces fermata.Option in the document: a string or an object.
type anyOption struct{}

// Schema documents both forms. It lets huma validate neither, because the
// decoder of the body distinguishes them and reports the wrong field.
func (anyOption) Schema(r huma.Registry) *huma.Schema {
	return textOr(r.Schema(reflect.TypeFor[optionObject](), true, "OptionObject"))
}

// listedEventType replaces fermata.EventType in the document: a string with the list of all types.
type listedEventType struct{}

// Schema registers the list once, and returns a reference to it.
func (listedEventType) Schema(r huma.Registry) *huma.Schema {
	r.Map()["EventType"] = eventTypeSchema(fermata.EventTypes)
	return &huma.Schema{Ref: schemaPrefix + "EventType"}
}

func eventTypeSchema(types []fermata.EventType) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, t := range types {
		s.Enum = append(s.Enum, string(t))
	}
	return s
}

// describeNotification lists the types of events that may concern a person.
func describeNotification(r huma.Registry) {
	r.Map()["NotificationType"] = eventTypeSchema(fermata.NotificationTypes)
	r.Map()["Notification"].Properties["type"] = &huma.Schema{Ref: schemaPrefix + "NotificationType"}
}

// describeAsk documents both forms of a request's context. The server itself
// sends only the object.
func describeAsk(r huma.Registry) {
	for _, name := range []string{"Ask", "OutsideAsk"} {
		ask := r.Map()[name]
		ask.Properties["context"] = textOr(ask.Properties["context"])
	}
}

// textOr returns the schema of a string or the object.
func textOr(object *huma.Schema) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{"oneOf": []*huma.Schema{{Type: huma.TypeString}, object}}}
}
