package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	// This is the driver that the server uses.
	_ "modernc.org/sqlite"
)

// describeMachine describes the machine of the measurements. It names no host and no path.
func (b *bench) describeMachine(ctx context.Context) ([]string, error) {
	lines := []string{
		fmt.Sprintf("%d cores (%s), %s of memory, %s", runtime.NumCPU(), processor(), memory(), kernel()),
	}
	versions := runtime.Version()
	var sqliteVersion string
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&sqliteVersion); err != nil {
		return nil, err
	}
	versions += ", SQLite " + sqliteVersion
	if b.postgres != "" {
		version, err := postgresVersion(ctx, b.postgres)
		if err != nil {
			return nil, err
		}
		versions += ", PostgreSQL " + version
	}
	lines = append(lines, versions)
	took, err := fsyncTime(b.folder)
	if err != nil {
		return nil, err
	}
	return append(lines, fmt.Sprintf("4 KiB appended and fsynced in %s (median)", took.Round(10*time.Microsecond))), nil
}

func postgresVersion(ctx context.Context, url string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	var version string
	err = conn.QueryRow(ctx, "SHOW server_version").Scan(&version)
	number, _, _ := strings.Cut(version, " ")
	return number, err
}

// fsyncTime returns the median duration of an fsync. Every acknowledgement waits for one.
func fsyncTime(folder string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(folder, "fsync"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	var took []time.Duration
	for range 200 {
		began := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func processor() string {
	if name := field("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	return runtime.GOARCH
}

func memory() string {
	var kilobytes int64
	_, _ = fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kilobytes)
	return fmt.Sprintf("%.0f GiB", float64(kilobytes)/(1<<20))
}

func kernel() string {
	var name syscall.Utsname
	if err := syscall.Uname(&name); err != nil {
		return runtime.GOOS
	}
	var sb strings.Builder
	for _, c := range name.Release {
		if c == 0 {
			break
		}
		sb.WriteByte(byte(c))
	}
	return "Linux " + sb.String()
}

// field returns the first value of a name in a file of /proc.
func field(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		key, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
