package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A part that runs alone replaces only its own lines of the page.
func TestReportKeepsOtherLines(t *testing.T) {
	first := report{machine: []string{"2 cores"}, rows: []row{
		{"start", "SQLite", "42 ms", "≤ 2 s", "ok"},
		{"disk", "PostgreSQL", "4091 bytes", "", "reported"},
	}}
	again := report{machine: []string{"2 cores"}, rows: []row{
		{"first load", "Chromium", "180 KB", "≤ 200 KB", "ok"},
		{"start", "SQLite", "45 ms", "≤ 2 s", "ok"},
	}}
	again.mergePage(first.markdown(time.Second))
	var got []string
	for line := range strings.Lines(again.markdown(time.Second)) {
		if strings.HasPrefix(line, "| ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"| what | where | result | bar | |",
		"| --- | --- | --- | --- | --- |",
		"| start | SQLite | 45 ms | ≤ 2 s | ok |",
		"| disk | PostgreSQL | 4091 bytes |  | reported |",
		"| first load | Chromium | 180 KB | ≤ 200 KB | ok |",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
