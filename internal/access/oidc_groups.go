package access

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/fermata-hq/fermata"
)

// checkRoles refuses unknown roles.
func checkRoles(roles map[string]string) error {
	for group, role := range roles {
		if group == "" || !slices.Contains(fermata.Roles, fermata.Role(role)) {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--oidc-role must be GROUP=ROLE with one of the roles %v, not %s=%s", fermata.Roles, group, role)
		}
	}
	return nil
}

// groupScopes returns the scope groups if the provider supports it. Some providers send the groups only to clients
// that ask for this scope.
func (o *OIDC) groupScopes(p *oidc.Provider) []string {
	var known struct {
		Scopes []string `json:"scopes_supported"`
	}
	if len(o.Roles) == 0 || p.Claims(&known) != nil || !slices.Contains(known.Scopes, "groups") {
		return nil
	}
	return []string{"groups"}
}

// roleOf returns the highest role that the person's groups give, or the role none if no group gives a role. It
// returns "" if no roles are configured for groups.
func (o *OIDC) roleOf(token *oidc.IDToken) (fermata.Role, error) {
	if len(o.Roles) == 0 {
		return "", nil
	}
	var claims map[string]json.RawMessage
	if err := token.Claims(&claims); err != nil {
		return "", err
	}
	groups, err := parseNames(claims[o.GroupsClaim])
	if err != nil {
		return "", fmt.Errorf("the claim %s is no list of groups: %w", o.GroupsClaim, err)
	}
	highest := fermata.RoleNone
	for _, group := range groups {
		if role := fermata.Role(o.Roles[group]); role != "" && role.AtLeast(highest) {
			highest = role
		}
	}
	return highest, nil
}

// parseNames reads a list of names, or a single one. Providers leave the claim out for a person without groups.
func parseNames(claim json.RawMessage) (names []string, err error) {
	if len(claim) == 0 || string(claim) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(claim, &one) == nil {
		return []string{one}, nil
	}
	return names, json.Unmarshal(claim, &names)
}
