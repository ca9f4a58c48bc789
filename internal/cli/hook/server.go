package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/config"
)

// serverFromFlags returns a client of the server that the hook's command line names. The environment gives neither the
// address, nor the token, nor a proxy.
func (h *gateHook) serverFromFlags() (*client.Client, error) {
	address := config.CanonicalURL(h.Server)
	token, err := h.readTokenFile(address)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{}
	if h.Proxy != "" {
		proxy, err := url.Parse(h.Proxy)
		if err != nil {
			return nil, fmt.Errorf("read --proxy: %w", err)
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	return client.New(address, token, client.WithUserAgent("fermata/"+h.s.ProgramVersion), client.WithHTTPClient(&http.Client{Transport: transport}))
}

// readTokenFile returns the token for the server. It comes from the token file, or from the login that `fermata login`
// stored for this server. A missing file means no token.
func (h *gateHook) readTokenFile(address string) (string, error) {
	if h.TokenFile == "" {
		login, _, err := h.s.Login()
		return login.Token(address), err
	}
	data, err := os.ReadFile(h.TokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	}
	if text := strings.TrimSpace(string(data)); !strings.HasPrefix(text, "{") {
		return text, nil
	}
	var login config.Login
	if err := json.Unmarshal(data, &login); err != nil {
		return "", fmt.Errorf("read the token in %s: %w", h.TokenFile, err)
	}
	return login.Token(address), nil
}
