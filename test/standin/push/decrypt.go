package push

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"

	"github.com/fermata-hq/fermata/test/checkout"
)

// decrypter decrypts messages with an independent implementation.
type decrypter struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startDecrypter() (*decrypter, error) {
	script, err := checkout.Path("test", "standin", "push", "decrypt.mjs")
	if err != nil {
		return nil, err
	}
	d := &decrypter{cmd: exec.CommandContext(context.Background(), "node", script)}
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewScanner(out)
	var complaint bytes.Buffer
	d.cmd.Stderr = &complaint
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	// The script reports that it is ready, or why it is not.
	if !d.out.Scan() {
		_ = d.cmd.Wait()
		return nil, fmt.Errorf("node cannot decrypt: run make web, which installs http_ece: %s", complaint.String())
	}
	return d, nil
}

func (d *decrypter) stop() {
	// The script ends when its input ends.
	_ = d.in.Close()
	_ = d.cmd.Wait()
}

func (d *decrypter) decrypt(body []byte, target *device) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b64 := base64.RawURLEncoding.EncodeToString
	line, err := json.Marshal(map[string]string{"body": b64(body), "private_key": b64(target.private.Bytes()), "auth": b64(target.auth)})
	if err != nil {
		return nil, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	if !d.out.Scan() {
		return nil, errors.New("node ended")
	}
	var reply struct{ Text, Error string }
	if err := json.Unmarshal(d.out.Bytes(), &reply); err != nil {
		return nil, err
	}
	if reply.Error != "" {
		return nil, fmt.Errorf("the message cannot be decrypted: %s", reply.Error)
	}
	return []byte(reply.Text), nil
}
