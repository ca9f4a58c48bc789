//go:build windows || plan9

package witness

import "github.com/fermata-hq/fermata"

func openSyslog(address string) (Witness, error) {
	return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q: there is no system log here", address).WithHint("name a file, or git:FOLDER with a clone")
}
