package slack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"
	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata/internal/notice"
)

// peopleCache caches identities of Slack users.
type peopleCache struct {
	mu   sync.Mutex
	self *api.AuthTestResponse
	// users holds identities by the id of the user, emails holds ids by the address, and directs holds direct
	// conversations by the id of the user.
	users   *cache[notice.Identity]
	emails  *cache[string]
	directs *cache[string]
}

// identityCacheTime is how long an identity is cached. An address that was removed from an account must soon stop
// counting.
const identityCacheTime = 5 * time.Minute

// maxPeople is how many people are cached.
const maxPeople = 20_000

func newPeopleCache() peopleCache {
	return peopleCache{
		users: newCache[notice.Identity](maxPeople, identityCacheTime), emails: newCache[string](maxPeople, identityCacheTime),
		directs: newCache[string](maxPeople, 0),
	}
}

// appIdentity returns the identity of the app itself.
func (p *peopleCache) appIdentity(ctx context.Context, c *Channel) (*api.AuthTestResponse, error) {
	p.mu.Lock()
	self := p.self
	p.mu.Unlock()
	if self != nil {
		return self, nil
	}
	self, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return nil, callFailure("ask who the app is", err)
	}
	p.mu.Lock()
	p.self = self
	p.mu.Unlock()
	return self, nil
}

// isOwnMessage reports whether the app posted a message.
func (c *Channel) isOwnMessage(ctx context.Context, m *api.Message) bool {
	me, err := c.people.appIdentity(ctx, c)
	return err == nil && (m.User != "" && m.User == me.UserID || m.BotID != "" && m.BotID == me.BotID)
}

// identity returns the identity of a user, from the cache or from Slack.
func (p *peopleCache) identity(ctx context.Context, c *Channel, id, name string) (notice.Identity, error) {
	if cached := p.users.Get(id); cached != nil {
		return cached.Value(), nil
	}
	me, err := p.appIdentity(ctx, c)
	if err != nil {
		return notice.Identity{}, err
	}
	who := notice.Identity{Kind: Kind, ID: id, Name: name}
	u, err := c.api.GetUserInfoContext(ctx, id)
	err = callFailure("ask who a user is", err)
	switch {
	case isSlackError(err, "missing_scope", "user_not_visible", "user_not_found"):
		// Slack signed the id itself. Only the mail address is missing.
		return who, nil
	case err != nil:
		return notice.Identity{}, err
	}
	if u.RealName != "" {
		who.Name = u.RealName
	}
	if isAddressTrusted(u, me.TeamID) {
		who.Email = u.Profile.Email
	}
	if u.IsBot || u.IsWorkflowBot || u.Deleted {
		who.DenialReason = "the Slack account is a bot or deactivated"
	}
	p.users.Set(id, who, ttlcache.DefaultTTL)
	return who, nil
}

// isAddressTrusted reports whether the workspace itself vouches for a user's mail address. In a conversation that is
// shared with another workspace, that workspace's administrators set the addresses of their people.
func isAddressTrusted(u *api.User, team string) bool {
	return u.IsEmailConfirmed && u.TeamID == team && !u.IsStranger && !u.Deleted && !u.IsBot
}

// find returns the id of the user with the mail address. It is empty if there is none, or if the workspace does not
// vouch for the address.
func (p *peopleCache) find(ctx context.Context, c *Channel, email string) (string, error) {
	if email == "" {
		return "", nil
	}
	if cached := p.emails.Get(email); cached != nil {
		return cached.Value(), nil
	}
	me, err := p.appIdentity(ctx, c)
	if err != nil {
		return "", err
	}
	id := ""
	u, err := c.api.GetUserByEmailContext(ctx, email)
	err = callFailure("look for a user by e-mail", err)
	switch {
	case isSlackError(err, "users_not_found", "missing_scope"):
	case err != nil:
		return "", err
	case isAddressTrusted(u, me.TeamID):
		id = u.ID
	}
	p.emails.Set(email, id, ttlcache.DefaultTTL)
	return id, nil
}

// openDirect returns the direct conversation between the app and a user.
func (p *peopleCache) openDirect(ctx context.Context, c *Channel, user string) (string, error) {
	if cached := p.directs.Get(user); cached != nil {
		return cached.Value(), nil
	}
	opened, _, _, err := c.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{user}})
	if err != nil {
		return "", callFailure("open a direct message", err)
	}
	p.directs.Set(user, opened.ID, ttlcache.DefaultTTL)
	return opened.ID, nil
}

// timestamp writes a time in Slack's form.
func timestamp(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}
