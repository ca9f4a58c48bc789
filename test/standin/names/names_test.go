package names

import (
	"errors"
	"net"
	"testing"
)

func TestUnknown(t *testing.T) {
	BlockLookups()
	_, err := net.DefaultResolver.LookupHost(t.Context(), "example.com")
	if unknown, ok := errors.AsType[*net.DNSError](err); !ok || !unknown.IsNotFound {
		t.Errorf("got %v", err)
	}
	if found, err := net.DefaultResolver.LookupHost(t.Context(), "localhost"); err != nil || len(found) == 0 {
		t.Errorf("localhost is %v: %v", found, err)
	}
}
