// Package faultdisk is a disk for SQLite whose writes and fsyncs fail when a test says so. It is a VFS that passes
// every call to SQLite's own VFS, except the calls that fail.
package faultdisk

import (
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Name is the name of the VFS, for the parameter vfs of a database address.
const Name = "faulty"

// Fault is the kind of call that fails.
type Fault int

// The faults.
const (
	// None lets every call succeed.
	None Fault = iota
	// FailSync makes an fsync fail. The kernel drops the data that was written before it, and later syncs succeed.
	FailSync
	// FailWrite makes a write fail.
	FailWrite
)

// Disk holds the faults of the databases, by path.
type Disk struct {
	mu     sync.Mutex
	faults map[string]plan
	// failed counts the failed calls, by the path of the database.
	failed map[string]int
}

type plan struct {
	fault Fault
	// suffix names the file: "" the database, "-wal" the write-ahead log.
	suffix string
	once   bool
}

// Shared is the only disk of the process.
var Shared = &Disk{faults: map[string]plan{}, failed: map[string]int{}}

// Register registers the disk with SQLite.
var Register = sync.OnceFunc(register)

// Fail makes calls on the file database+suffix fail: once, or until the fault is set to None.
func (d *Disk) Fail(database, suffix string, fault Fault, once bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults[database] = plan{fault, suffix, once}
}

// Failed returns how many calls on a database have failed.
func (d *Disk) Failed(database string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[database]
}

// takeFault reports whether a call on a path must fail, and counts it.
func (d *Disk) takeFault(path string, fault Fault) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	database := strings.TrimSuffix(path, "-wal")
	p, ok := d.faults[database]
	if !ok || p.fault != fault || database+p.suffix != path {
		return false
	}
	d.failed[database]++
	if p.once {
		delete(d.faults, database)
	}
	return true
}

var (
	paths   sync.Map // of open files, by the address of their struct
	baseVFS uintptr  // SQLite's own VFS
	methods sync.Map // copies of tables of methods, by the address of the original
)

func register() {
	tls := libc.NewTLS()
	defer tls.Close()
	baseVFS = sqlite3.Xsqlite3_vfs_find(tls, 0)
	size := unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})
	own := libc.Xmalloc(tls, libc.Tsize_t(size))
	libc.Xmemcpy(tls, own, baseVFS, libc.Tsize_t(size))
	name, err := libc.CString(Name)
	if err != nil {
		panic(err)
	}
	vfs := valueAt[sqlite3.Tsqlite3_vfs](own)
	vfs.FzName, vfs.FpNext = name, 0
	vfs.FxOpen = address(open)
	sqlite3.Xsqlite3_vfs_register(tls, own, 0)
}

// address returns the address of a function in the form in which SQLite calls it.
func address[F any](fn F) uintptr {
	pinned := &struct{ fn F }{fn}
	pinnedFuncs = append(pinnedFuncs, pinned)
	return *(*uintptr)(unsafe.Pointer(pinned))
}

// pinnedFuncs protects the functions from the garbage collector.
var pinnedFuncs []any

type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	writeFunc = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	syncFunc  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

func funcAt[F any](fn uintptr) F { return *(*F)(unsafe.Pointer(&struct{ fn uintptr }{fn})) }

// valueAt returns a pointer to the value at an address in SQLite's own memory.
func valueAt[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// open opens a file with SQLite's own VFS, and replaces its methods for writes and syncs.
func open(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	own := valueAt[sqlite3.Tsqlite3_vfs](baseVFS)
	rc := funcAt[openFunc](own.FxOpen)(tls, baseVFS, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || name == 0 {
		return rc
	}
	paths.Store(file, libc.GoString(name))
	opened := valueAt[sqlite3.Tsqlite3_file](file)
	opened.FpMethods = takeOver(opened.FpMethods)
	return rc
}

// originals are the original tables of methods, by the address of the copy.
var originals sync.Map

func takeOver(table uintptr) uintptr {
	if own, ok := methods.Load(table); ok {
		return own.(uintptr)
	}
	tls := libc.NewTLS()
	defer tls.Close()
	size := unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})
	own := libc.Xmalloc(tls, libc.Tsize_t(size))
	libc.Xmemcpy(tls, own, table, libc.Tsize_t(size))
	m := valueAt[sqlite3.Tsqlite3_io_methods](own)
	m.FxWrite, m.FxSync = address(write), address(syncFile)
	methods.Store(table, own)
	originals.Store(own, table)
	return own
}

// original returns SQLite's own methods of a file.
func original(file uintptr) *sqlite3.Tsqlite3_io_methods {
	opened := valueAt[sqlite3.Tsqlite3_file](file)
	table, _ := originals.Load(opened.FpMethods)
	return valueAt[sqlite3.Tsqlite3_io_methods](table.(uintptr))
}

func pathOf(file uintptr) string {
	path, _ := paths.Load(file)
	return path.(string)
}

func write(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	if Shared.takeFault(pathOf(file), FailWrite) {
		return sqlite3.SQLITE_IOERR_WRITE
	}
	return funcAt[writeFunc](original(file).FxWrite)(tls, file, data, n, offset)
}

func syncFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	if Shared.takeFault(pathOf(file), FailSync) {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return funcAt[syncFunc](original(file).FxSync)(tls, file, flags)
}
