package faults

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fermata-hq/fermata/test/script"
)

// disk simulates a file system of a folder that becomes read-only after an error, even for open files. Linux refuses to
// remount a file system on which files are open for writing as read-only. So disk intercepts each system call that writes
// (seccomp(2), SECCOMP_RET_USER_NOTIF) and answers it. It needs no root.
type disk struct {
	t        *testing.T
	folder   string
	socket   *net.UnixListener
	readOnly atomic.Bool
	// refused counts the calls that were refused.
	refused atomic.Int64
	busy    sync.WaitGroup
}

func newDisk(t *testing.T, folder string) *disk {
	t.Helper()
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{t: t, folder: folder, socket: socket}
	d.busy.Go(d.accept)
	t.Cleanup(func() {
		_ = socket.Close()
		d.busy.Wait()
	})
	return d
}

// socketEnv names the variable with the socket over which a program hands its seccomp file descriptor to the disk.
const socketEnv = "FAULTS_DISK_SOCKET"

// wrapWith returns a script that runs the binary with its writing calls intercepted by the disk.
func (d *disk) wrapWith(binary string) string {
	d.t.Helper()
	own, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	program := filepath.Join(d.t.TempDir(), "fermata")
	script.Write(d.t, program, fmt.Sprintf("%s='%s' exec '%s' '%s' \"$@\"", socketEnv, d.socket.Addr(), own, binary))
	return program
}

// writing are the system calls with which a program changes files, by descriptor or by name.
var writing = []uint32{unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_OPENAT}

// goUnderDisk replaces this process by the program that its arguments name. The program's writing calls wait for the
// disk's answer.
func goUnderDisk(socket string) error {
	// The filter applies to this thread, which becomes the program.
	runtime.LockOSThread()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for i, call := range writing {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: uint8(len(writing) - i)})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_USER_NOTIF})
	filter := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	calls, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(int(calls)), nil); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, socketEnv+"=") })
	return unix.Exec(os.Args[1], os.Args[1:], env)
}

// accept receives the seccomp file descriptors of programs and answers their calls.
func (d *disk) accept() {
	for {
		conn, err := d.socket.AcceptUnix()
		if err != nil {
			return
		}
		d.busy.Go(func() {
			rights := make([]byte, unix.CmsgSpace(4))
			_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
			_ = conn.Close()
			if err != nil {
				return
			}
			if calls, err := receivedFile(rights[:n]); err == nil {
				d.answer(calls)
			}
		})
	}
}

func receivedFile(rights []byte) (int, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return 0, fmt.Errorf("no file was sent: %w", err)
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no file was sent: %w", err)
	}
	return files[0], nil
}

// call is a system call that waits for its answer, and reply is the answer, both in the kernel's layout.
type (
	call struct {
		id         uint64
		pid, flags uint32
		number     int32
		arch       uint32
		address    uint64
		args       [6]uint64
	}
	reply struct {
		id     uint64
		value  int64
		failed int32
		flags  uint32
	}
)

// answer answers the calls of a program until it ends.
func (d *disk) answer(calls int) {
	defer func() { _ = unix.Close(calls) }()
	for {
		ready := []unix.PollFd{{Fd: int32(calls), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return // the program has ended
		}
		var c call
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(calls), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&c))); errno != 0 {
			continue // the thread has ended
		}
		r := reply{id: c.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if d.readOnly.Load() && d.isWrite(&c) {
			r.flags, r.failed = 0, -int32(syscall.EROFS)
			d.refused.Add(1)
		}
		// A thread that has ended takes no answer.
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(calls), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	}
}

// isWrite reports whether a call writes into the folder.
func (d *disk) isWrite(c *call) bool {
	if c.number == unix.SYS_OPENAT {
		name := readName(int(c.pid), uintptr(c.args[1]))
		return d.holds(name) && isOpenedToWrite(name, c.args[2])
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", c.pid, int32(c.args[0])))
	return err == nil && d.holds(name)
}

func (d *disk) holds(name string) bool { return strings.HasPrefix(name, d.folder+"/") }

// isOpenedToWrite reports whether a read-only file system refuses to open the file with the flags. If the flags demand
// that the file is new (O_EXCL) and it exists, the kernel refuses the call for that reason instead.
func isOpenedToWrite(name string, flags uint64) bool {
	_, err := os.Lstat(name)
	if err == nil && flags&unix.O_EXCL != 0 {
		return false
	}
	return flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0
}

// readName reads a name in the memory of a process.
func readName(pid int, at uintptr) string {
	text := make([]byte, unix.PathMax)
	local := unix.Iovec{Base: &text[0]}
	local.SetLen(len(text))
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: at, Len: len(text)}}, 0)
	if err != nil {
		return ""
	}
	name, _, _ := bytes.Cut(text[:n], []byte{0})
	return string(name)
}
