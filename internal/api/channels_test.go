package api_test

// channelRoutes are the calls of the delivery service.
var channelRoutes = []string{
	"DELETE /v1/channels/{name}", "DELETE /v1/me/devices/{id}", "DELETE /v1/members/{id}/identities/{kind}", "GET /v1/channel-kinds",
	"GET /v1/channels", "GET /v1/channels/{name}", "GET /v1/deliveries", "GET /v1/deliveries/{id}", "GET /v1/identities",
	"GET /v1/me/devices", "GET /v1/members/{id}/devices", "GET /v1/me/notifications", "GET /v1/members/{id}/notifications", "GET /v1/push/key", "GET /v1/routes",
	"PATCH /v1/channels/{name}", "POST /v1/channels", "POST /v1/channels/{name}/test", "POST /v1/deliveries/{id}/redeliver",
	"POST /v1/me/devices", "POST /v1/me/notifications/test", "PUT /v1/me/notifications", "PUT /v1/members/{id}/identities/{kind}", "PUT /v1/members/{id}/notifications",
	"PUT /v1/routes",
}
