package slack

import (
	"context"
	"fmt"
	"sync"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata/internal/notice"
)

// peopleCache caches identities of Slack users.
type peopleCache struct {
	mu      sync.Mutex
	self    *api.AuthTestResponse
	users   map[string]cacheEntry[notice.Identity]
	emails  map[string]cacheEntry[string]
	directs map[string]string
}

type cacheEntry[T any] struct {
	value T
	at    time.Time
}

// identityCacheTime is how long an identity is cached. An address that was removed from an account must soon stop
// counting.
const identityCacheTime = 5 * time.Minute

// maxPeople is how many people are cached.
const maxPeople = 20_000

func recall[T any](p *peopleCache, from *map[string]cacheEntry[T], key string) (T, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, found := (*from)[key]
	return r.value, found && time.Since(r.at) < identityCacheTime
}

func remember[T any](p *peopleCache, into *map[string]cacheEntry[T], key string, value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *into == nil || len(*into) >= maxPeople {
		*into = map[string]cacheEntry[T]{}
	}
	(*into)[key] = cacheEntry[T]{value: value, at: time.Now()}
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
	if who, found := recall(p, &p.users, id); found {
		return who, nil
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
	remember(p, &p.users, id, who)
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
	if id, found := recall(p, &p.emails, email); found {
		return id, nil
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
	remember(p, &p.emails, email, id)
	return id, nil
}

// openDirect returns the direct conversation between the app and a user.
func (p *peopleCache) openDirect(ctx context.Context, c *Channel, user string) (string, error) {
	p.mu.Lock()
	conversation := p.directs[user]
	p.mu.Unlock()
	if conversation != "" {
		return conversation, nil
	}
	opened, _, _, err := c.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{user}})
	if err != nil {
		return "", callFailure("open a direct message", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.directs == nil || len(p.directs) >= maxPeople {
		p.directs = map[string]string{}
	}
	p.directs[user] = opened.ID
	return opened.ID, nil
}

// timestamp writes a time in Slack's form.
func timestamp(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}
