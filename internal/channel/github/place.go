package github

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// Place is an issue or a pull request.
type Place struct {
	Owner  string `json:"owner"`
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// Names are inserted into addresses without escaping, so they may contain only
// these characters.
var (
	ownerPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}|[A-Za-z0-9-]{0,30}_[A-Za-z0-9]{1,10})$`)
	repoPattern  = lazyregexp.New(`^[A-Za-z0-9._-]{1,100}$`)
	pagePattern  = lazyregexp.New(`^https?://[^/]+/([^/]+)/([^/]+)/(?:issues|pull)/([0-9]+)(?:[#?].*)?$`)
)

// Repository returns owner/repo.
func (p Place) Repository() string { return p.Owner + "/" + p.Repo }

// String returns owner/repo#number.
func (p Place) String() string { return fmt.Sprintf("%s#%d", p.Repository(), p.Number) }

// ParsePlace reads owner/repo#123, the address of an issue or pull request, or
// a number alone. A number alone is in defaultRepository.
func ParsePlace(text, defaultRepository string) (Place, error) {
	text = strings.TrimSpace(text)
	wrong := fermata.Errorf(fermata.CodeInvalidRequest, "%q names no issue", text).
		WithHint("write owner/repo#123")
	name, number, found := strings.Cut(text, "#")
	if m := pagePattern().FindStringSubmatch(text); m != nil {
		name, number = m[1]+"/"+m[2], m[3]
	} else if !found {
		name, number = "", text
	}
	if name == "" {
		name = defaultRepository
	}
	ownerName, repoName, ok := cutRepository(name)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return Place{}, wrong
	}
	return Place{Owner: ownerName, Repo: repoName, Number: n}, nil
}

func cutRepository(name string) (ownerName, repoName string, ok bool) {
	ownerName, repoName, _ = strings.Cut(name, "/")
	ok = ownerPattern().MatchString(ownerName) && repoPattern().MatchString(repoName) && repoName != "." && repoName != ".."
	return ownerName, repoName, ok
}
