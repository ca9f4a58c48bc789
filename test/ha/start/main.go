//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/fermata-hq/fermata/test/ha/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	keep := flag.String("keep", "", "an empty or missing `folder` for data and logs, which stays (default: a folder that is removed at the end)")
	network := flag.String("network", "127.77.0", "the first three `numbers` of the machines' loopback addresses")
	asynchronous := flag.Bool("asynchronous", false, "acknowledge commits that no standby has")
	pastPoolers := flag.Bool("past-poolers", false, "connect the replicas to PostgreSQL past pgbouncer")
	templates := flag.String("files", "deploy/ha", "the `folder` with the files to fill")
	binary := flag.String("fermata", "bin/fermata", "the `program` fermata")
	flag.Parse()

	folder, remove, err := workFolder(*keep)
	if err != nil {
		return err
	}
	defer remove()
	program, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Options{
		Folder: folder, Templates: *templates, Binary: program, Network: *network, Asynchronous: *asynchronous, PastPoolers: *pastPoolers,
		Report: func(step string) { fmt.Fprintln(os.Stderr, "==>", step) },
	})
	if err != nil {
		return err
	}
	defer c.Destroy()
	fmt.Fprint(os.Stderr, greeting(c, folder))
	<-ctx.Done()
	fmt.Fprintln(os.Stderr, "\n==> ending everything")
	return nil
}

// workFolder returns the folder for the data, and a function that removes it unless it is kept. Other users can enter
// it, because PostgreSQL runs as another user if this process is root's.
func workFolder(keep string) (folder string, remove func(), err error) {
	remove = func() {}
	if keep == "" {
		folder, err = os.MkdirTemp("", "fermata-ha-")
		remove = func() { _ = os.RemoveAll(folder) }
	} else if folder, err = filepath.Abs(keep); err == nil {
		err = os.MkdirAll(folder, 0o755) //nolint:gosec // see above
	}
	if err != nil {
		return "", nil, err
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return "", nil, errors.Join(err, fmt.Errorf("the folder %s is not empty: name another one with -keep", folder))
	}
	return folder, remove, os.Chmod(folder, 0o755) //nolint:gosec // see above
}

func greeting(c *cluster.Cluster, folder string) string {
	text := fmt.Sprintf("\nFermata           %s\n", c.URL())
	text += fmt.Sprintf("first token       %s\n", c.FirstToken)
	text += fmt.Sprintf("HAProxy           http://%s:8404\n", c.Front.Address)
	text += fmt.Sprintf("PostgreSQL        %s\n", c.DatabaseURL())
	text += fmt.Sprintf("Patroni           patronictl -c %s/db1/patroni.yml list\n", folder)
	return text + fmt.Sprintf("logs              %s\n\nCtrl-C ends all of it.\n", folder)
}
