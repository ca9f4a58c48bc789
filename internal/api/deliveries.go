package api

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
)

// DeliveriesInput narrows a list of deliveries.
type DeliveriesInput struct {
	PageInput
	QuestionID string `query:"question_id" maxLength:"64" doc:"only what was sent for this question"`
	Channel    string `query:"channel" maxLength:"64" doc:"name of a channel"`
	State      string `query:"state" enum:"waiting,sent,failed,dead,skipped"`
	Wait       string `query:"wait" maxLength:"20" doc:"how long to wait until it is planned what is sent for all that has happened, up to 60s"`
}

type deliveryReply = reply[*fermata.Delivery]

// IdentityInput names a member and a kind of channel. It is exported because
// huma ignores embedded structs that are not.
type IdentityInput struct {
	MemberInput
	Kind string `path:"kind" maxLength:"64" doc:"slack, github, …"`
}

// identityOf is a member's identity in the system behind a kind of channel.
type identityOf struct {
	ID   string `json:"id" minLength:"1" maxLength:"200"`
	Name string `json:"name,omitempty" maxLength:"200"`
}

type identityBody struct {
	IdentityInput
	Body identityOf
}

type preferencesBody struct {
	MemberInput
	Body fermata.Preferences
}

// pushKey is the public key with which a page subscribes the browser to push
// messages.
type pushKey struct {
	Key string `json:"key" doc:"public key (VAPID), base64url"`
}

type preferencesReply = reply[fermata.Preferences]

func (s *Server) registerDeliveries() {
	addDelivery(s, "GET /deliveries", "list-deliveries", "List what was sent, the newest first",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *DeliveriesInput) (*reply[page[*fermata.Delivery]], error) {
			wait, err := parseWait(in.Wait)
			if err != nil {
				return nil, err
			}
			waiting, done := s.waitContext(ctx)
			defer done()
			return pageOf(d.Deliveries(waiting, c, delivery.Filter{
				QuestionID: in.QuestionID, Channel: in.Channel, State: in.State, Cursor: in.Cursor, Limit: in.Limit, Wait: wait,
			}))
		})
	addDelivery(s, "GET /deliveries/{id}", "get-delivery", "Read a delivery, with what was sent and what happened",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *IDInput) (*deliveryReply, error) {
			return replyOf(d.Delivery(ctx, c, in.ID))
		})
	addDelivery(s, "POST /deliveries/{id}/redeliver", "redeliver", "Send a message once more, under the same id",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *idBody[*nothing]) (*deliveryReply, error) {
			return replyOf(d.Redeliver(ctx, c, in.ID))
		})
	s.registerPreferences()
	s.registerTestMessage()
	s.registerIdentities()
	s.registerPush()
}

func (s *Server) registerPreferences() {
	addDelivery(s, "GET /me/notifications", "get-my-preferences", "Read how the caller wants to be reached",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*preferencesReply, error) {
			return replyOf(d.Preferences(ctx, c, ""))
		})
	addDelivery(s, "PUT /me/notifications", "set-my-preferences", "Say how the caller wants to be reached",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *bodyInput[fermata.Preferences]) (*preferencesReply, error) {
			return replyOf(d.SetPreferences(ctx, c, "", in.Body))
		})
	addDelivery(s, "GET /members/{id}/notifications", "get-preferences", "Read how a member wants to be reached",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *MemberInput) (*preferencesReply, error) {
			return replyOf(d.Preferences(ctx, c, in.ID))
		})
	addDelivery(s, "PUT /members/{id}/notifications", "set-preferences", "Say how a member is to be reached",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *preferencesBody) (*preferencesReply, error) {
			return replyOf(d.SetPreferences(ctx, c, in.ID, in.Body))
		})
}

func (s *Server) registerIdentities() {
	addDelivery(s, "GET /identities", "list-identities", "List who members are in the systems behind channels",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[page[fermata.Identity]], error) {
			return listOf(d.Identities(ctx, c))
		})
	addDelivery(s, "PUT /members/{id}/identities/{kind}", "set-identity", "Say who a member is in the system behind a kind of channels",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *identityBody) (*reply[fermata.Identity], error) {
			return replyOf(d.SetIdentity(ctx, c, in.MemberInput.ID, fermata.Identity{Kind: in.Kind, ID: in.Body.ID, Name: in.Body.Name}))
		})
	addDelivery(s, "DELETE /members/{id}/identities/{kind}", "remove-identity", "Forget who a member is there",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *IdentityInput) (*empty, error) {
			return emptyOf(d.DeleteIdentity(ctx, c, in.MemberInput.ID, in.Kind))
		})
}

func (s *Server) registerPush() {
	addDelivery(s, "GET /push/key", "get-push-key", "Read the key with which a browser subscribes",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[pushKey], error) {
			key, err := d.PushKey(ctx, c)
			return replyOf(pushKey{key}, err)
		})
	addDelivery(s, "GET /me/devices", "list-my-devices", "List the browsers that messages for the caller are pushed to",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Device]], error) {
			return listOf(d.Devices(ctx, c, ""))
		})
	addDelivery(s, "GET /members/{id}/devices", "list-member-devices", "List the browsers that messages for a person are pushed to: your own, or as an admin anybody's",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *MemberInput) (*reply[page[*fermata.Device]], error) {
			return listOf(d.Devices(ctx, c, in.ID))
		})
	addDelivery(s, "POST /me/devices", "add-device", "Let messages for the caller be pushed to a browser",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *bodyInput[fermata.NewDevice]) (*reply[*fermata.Device], error) {
			return replyOf(d.AddDevice(ctx, c, in.Body))
		})
	addDelivery(s, "DELETE /me/devices/{id}", "remove-device", "End that: for your own device, or as an admin for anybody's",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *IDInput) (*empty, error) {
			return emptyOf(d.RemoveDevice(ctx, c, in.ID))
		})
}
