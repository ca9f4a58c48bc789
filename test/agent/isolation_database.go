package agent

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
)

// exposeDatabase makes the database at the address reachable from the sealed network. It listens on a socket in the
// folder and passes all data on to the server. It returns the address that tests in the sealed network use.
func exposeDatabase(folder, address string) (string, error) {
	to, err := url.Parse(address)
	if err != nil || to.Host == "" {
		return address, err
	}
	const port = "5432"
	l, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL."+port)) //nolint:noctx // it ends with the program
	if err != nil {
		return "", err
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go copyBothWays(in, to.Host)
		}
	}()
	options := to.Query()
	options.Set("host", folder)
	options.Set("port", port)
	inside := *to
	inside.Host, inside.RawQuery = "", options.Encode()
	return inside.String(), nil
}

// copyBothWays copies data between the connection and the server until one of the two directions ends.
func copyBothWays(in net.Conn, server string) {
	defer in.Close()                    //nolint:errcheck // both ends see it
	out, err := net.Dial("tcp", server) //nolint:noctx,gosec // the server that these tests were given
	if err != nil {
		return
	}
	defer out.Close() //nolint:errcheck // both ends see it
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}
