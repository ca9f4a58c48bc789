// Command puppet is the agent of the seams tests. It takes its orders from the test over a socket, and reports
// everything that its worker tells it. As long as it lives, it writes the time into a file.
//
//	puppet SOCKET FOLDER   plays an agent
//	puppet beat FILE       only writes the time: a child that an agent left behind
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// How often the time is written and the inbox is read.
const (
	beatInterval = 20 * time.Millisecond
	readInterval = 5 * time.Millisecond
)

// retryTime is how long a call is repeated while the server is down.
const retryTime = 20 * time.Second

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "beat":
		signal.Ignore(syscall.SIGTERM)
		err = beat(os.Args[2])
	case len(os.Args) == 3:
		err = play(os.Args[1], os.Args[2])
	default:
		err = fmt.Errorf("usage: puppet SOCKET FOLDER")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// order is an order of the test.
type order struct {
	N  int    `json:"n"`
	Do string `json:"do"`
	// Method, Path and Body are a call of the server.
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
	Key    string          `json:"key"`
	Text   string          `json:"text"`
	// Result is the result with which the agent ends, Code its exit code.
	Result json.RawMessage `json:"result"`
	Code   int             `json:"code"`
}

// report is a report of the agent to the test.
type report struct {
	Hello *hello          `json:"hello,omitempty"`
	Told  json.RawMessage `json:"told,omitempty"`
	Bye   bool            `json:"bye,omitempty"`
	Did   int             `json:"did,omitempty"`
	// Status and Body are the server's reply. Status 0 means no reply.
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// hello is the agent's first report.
type hello struct {
	Task    string          `json:"task"`
	Run     string          `json:"run"`
	PID     int             `json:"pid"`
	Context json.RawMessage `json:"context"`
}

// puppet is one agent process.
type puppet struct {
	folder string
	mu     sync.Mutex
	out    *json.Encoder
	// readMu is held while the inbox is read. read is how many bytes of it were read.
	readMu sync.Mutex
	inbox  string
	read   int64
}

func play(socket, folder string) error {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return err
	}
	p := &puppet{folder: folder, out: json.NewEncoder(conn), inbox: os.Getenv("FERMATA_INBOX")}
	name := os.Getenv("FERMATA_RUN") + "." + strconv.Itoa(os.Getpid())
	go beat(filepath.Join(folder, name)) //nolint:errcheck // a folder that is gone ends the test
	handed, err := os.ReadFile(os.Getenv("FERMATA_CONTEXT"))
	if err != nil {
		return err
	}
	p.send(report{Hello: &hello{
		Task: os.Getenv("FERMATA_TASK"), Run: os.Getenv("FERMATA_RUN"), PID: os.Getpid(), Context: handed,
	}})
	go func() {
		for ; ; time.Sleep(readInterval) {
			p.readInbox()
		}
	}()
	orders := json.NewDecoder(conn)
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return err
		}
		p.execute(o)
	}
}

func (p *puppet) send(r report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.out.Encode(r); err != nil {
		os.Exit(1)
	}
}

// readInbox reports the new lines of the inbox.
func (p *puppet) readInbox() {
	p.readMu.Lock()
	defer p.readMu.Unlock()
	file, err := os.Open(p.inbox)
	if err != nil {
		return
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.NewSectionReader(file, p.read, 1<<30))
	if err != nil {
		return
	}
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return
		}
		p.send(report{Told: json.RawMessage(data[:end])})
		data, p.read = data[end+1:], p.read+int64(end)+1
	}
}

func (p *puppet) execute(o order) {
	switch o.Do {
	case "call":
		p.send(p.call(o))
	case "print":
		fmt.Println(o.Text)
		p.send(report{Did: o.N})
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		p.send(report{Did: o.N})
	case "child":
		r := report{Did: o.N}
		if err := p.leaveChild(); err != nil {
			r.Error = err.Error()
		}
		p.send(r)
	case "end":
		p.end(o)
	default:
		p.send(report{Did: o.N, Error: "unknown order " + o.Do})
	}
}

// end reads the rest of the inbox, writes the result and exits.
func (p *puppet) end(o order) {
	if len(o.Result) > 0 && string(o.Result) != "null" {
		if err := os.WriteFile(os.Getenv("FERMATA_RESULT"), o.Result, 0o600); err != nil {
			p.send(report{Did: o.N, Error: err.Error()})
		}
	}
	p.closeInbox()
	p.send(report{Did: o.N, Bye: true})
	os.Exit(o.Code)
}

// closeInbox renames the inbox, so that the worker can hand nothing more to this run. Then it reports the lines that are
// in the inbox.
func (p *puppet) closeInbox() {
	p.readMu.Lock()
	closed := p.inbox + ".read"
	if err := os.Rename(p.inbox, closed); err == nil {
		p.inbox = closed
	}
	p.readMu.Unlock()
	p.readInbox()
}

// call calls the server with the agent's own token. A call without a reply is repeated with its idempotency key.
func (p *puppet) call(o order) report {
	for end := time.Now().Add(retryTime); ; time.Sleep(readInterval) {
		r, err := callOnce(o)
		if err == nil || time.Now().After(end) {
			if err != nil {
				r.Error = err.Error()
			}
			r.Did = o.N
			return r
		}
	}
}

func callOnce(o order) (report, error) {
	req, err := http.NewRequest(o.Method, os.Getenv("FERMATA_URL")+o.Path, bytes.NewReader(o.Body)) //nolint:noctx // the process ends with its run
	if err != nil {
		return report{}, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("FERMATA_TOKEN"))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", o.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return report{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return report{}, err
	}
	if res.StatusCode == http.StatusServiceUnavailable {
		return report{}, fmt.Errorf("the server replied %s", res.Status)
	}
	return report{Status: res.StatusCode, Body: body}, nil
}

// leaveChild starts a program in a session of its own, as the shells of coding agents do.
func (p *puppet) leaveChild() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s.%d.child", os.Getenv("FERMATA_RUN"), os.Getpid())
	cmd := exec.Command(self, "beat", filepath.Join(p.folder, name)) //nolint:noctx // it outlives its parent on purpose
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// beat writes the time into the file again and again, until the folder of the test is removed with the file.
func beat(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for ; ; time.Sleep(beatInterval) {
		now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
		if _, err := file.WriteAt(now, 0); err != nil {
			return err
		}
		if _, err := os.Stat(name); err != nil {
			return err
		}
	}
}
