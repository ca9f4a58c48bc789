package email

import (
	"net/mail"
	"strings"
	"testing"
)

func TestProve(t *testing.T) {
	t.Parallel()
	const mx = "mx.example.com"
	tests := []struct {
		name, headers  string
		named, unnamed proof // with and without the server's name in the settings
	}{
		{"nothing", "", forged, unproven},
		{"dmarc", "Authentication-Results: mx.example.com; dmarc=pass (p=REJECT) header.from=example.com", proven, unproven},
		{"dkim", "Authentication-Results: mx.example.com 1; dkim=pass (2048-bit key; unprotected) header.d=example.com header.i=@example.com", proven, unproven},
		{"dkim of the domain above", "Authentication-Results: mx.example.com; dkim=pass header.d=com", forged, unproven},
		{"spf", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=ada@example.com", proven, unproven},
		{"dkim of another domain", "Authentication-Results: mx.example.com; dkim=pass header.i=@example.com header.d=evil.com", forged, unproven},
		{"dkim for a part of the domain", "Authentication-Results: mx.example.com; dkim=pass header.i=@mail.example.com header.d=example.com", proven, unproven},
		{"dkim of two domains", "Authentication-Results: mx.example.com; dkim=pass header.d=evil.com header.d=example.com", forged, unproven},
		{"spf of two", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=evil.com smtp.mailfrom=example.com", forged, unproven},
		{"dmarc of two", "Authentication-Results: mx.example.com; dmarc=pass header.from=evil.com header.from=example.com", forged, unproven},
		{"sign-in of two", "Authentication-Results: mx.example.com; auth=pass smtp.auth=eve@example.com smtp.auth=ada@example.com", forged, unproven},
		{"the same twice", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.com smtp.mailfrom=example.com", proven, unproven},
		{"two words of one method", "Authentication-Results: mx.example.com; dkim=pass dkim=fail header.d=example.com", forged, unproven},
		{"spf of another", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=eve@evil.test", forged, unproven},
		{"sign-in", "Authentication-Results: mx.example.com; auth=pass (PLAIN) smtp.auth=ada@example.com", proven, unproven},
		{"sign-in of another", "Authentication-Results: mx.example.com; auth=pass (PLAIN) smtp.auth=eve@example.com", forged, unproven},
		{"dmarc fails although spf passed", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=ada@example.com; dmarc=fail header.from=example.com", forged, forged},
		{"spf fails", "Authentication-Results: mx.example.com; spf=softfail smtp.mailfrom=ada@example.com", forged, forged},
		{"spf fails, dkim passes", "Authentication-Results: mx.example.com; spf=fail smtp.mailfrom=list@other.test; dkim=pass header.d=example.com", proven, unproven},
		{"none", "Authentication-Results: mx.example.com; none", forged, unproven},
		{"a comment that holds results", "Authentication-Results: mx.example.com; spf=none (x; dmarc=pass header.from=example.com) smtp.mailfrom=eve@evil.test", forged, unproven},
		{"a quotation that holds results", `Authentication-Results: mx.example.com; spf=none smtp.mailfrom="a; dmarc=pass header.from=example.com"@evil.test`, forged, unproven},
		{"a comment that does not end", "Authentication-Results: mx.example.com; spf=none (x; dmarc=pass header.from=example.com", forged, unproven},
		{"an address that is not quoted", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=a; dmarc=pass header.from=example.com; x@evil.com", forged, unproven},
		{"an address that looks like a result", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=a; dmarc=pass header.from=example.com; x=y@evil.com", forged, unproven},
		{"an address behind a result", "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=a; dmarc=pass header.from=example.com x@evil.com", forged, unproven},
		{"another version", "Authentication-Results: mx.example.com 2; dmarc=pass header.from=example.com", forged, unproven},
		{"words beside", "Authentication-Results: mx.example.com; dmarc=pass action=none header.from=example.com;compauth=pass reason=100;", proven, unproven},
		{"another server", "Authentication-Results: evil.test; dmarc=pass header.from=example.com", forged, unproven},
		{"several headers", "Authentication-Results: mx.example.com; spf=none\nAuthentication-Results: mx.example.com; dkim=pass header.d=example.com", proven, unproven},
		{"what came with the mail", "Authentication-Results: mx.example.com; spf=none\nReceived: from evil.test by mx.example.com\nAuthentication-Results: mx.example.com; dmarc=pass header.from=example.com", forged, unproven},
		{"below our Received", "Received: from x by mx.example.com\nAuthentication-Results: mx.example.com; dmarc=pass header.from=example.com\nReceived: from y by x", proven, unproven},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, want := range map[string]proof{mx: tt.named, "": tt.unnamed} {
				c := &config{authServID: name, from: &mail.Address{Address: "fermata@example.com"}}
				raw := strings.TrimLeft(tt.headers+"\nFrom: Ada <ada@example.com>\n\n", "\n")
				r, err := c.readHeader([]byte(strings.ReplaceAll(raw, "\n", "\r\n")))
				if err != nil {
					t.Fatal(err)
				}
				got, why := c.verifySender(r)
				if got != want {
					t.Errorf("the server called %q: got %v, want %v", name, got, want)
				}
				if (got == forged) != (why != "") {
					t.Errorf("the server called %q: %v because of %q", name, got, why)
				}
			}
		})
	}
}

func TestAMailThatNobodyVouchesForIsToldWhy(t *testing.T) {
	t.Parallel()
	for headers, want := range map[string]string{
		"": "no Authentication-Results of mx.example.com",
		"Authentication-Results: mx.example.com; none":                                                                       "it checked nothing",
		"Authentication-Results: mx.example.com; dmarc=fail header.from=example.com":                                         "dmarc=fail for example.com",
		"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=eve@evil.test; dkim=none":                            "spf=pass for eve@evil.test, dkim=none",
		"Authentication-Results: mx.example.com; spf=softfail smtp.mailfrom=ada@example.com; auth=pass smtp.auth=eve@x.test": "spf=softfail for ada@example.com, auth=pass for eve@x.test",
	} {
		c := &config{authServID: "mx.example.com", from: &mail.Address{Address: "fermata@example.com"}}
		raw := strings.TrimLeft(headers+"\nFrom: Ada <ada@example.com>\n\n", "\n")
		r, err := c.readHeader([]byte(strings.ReplaceAll(raw, "\n", "\r\n")))
		if err != nil {
			t.Fatal(err)
		}
		if _, why := c.verifySender(r); !strings.Contains(why, want) {
			t.Errorf("%s: %q", headers, why)
		}
	}
}
