package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// sqliteWriter is SQLite's one connection for writes. It uses SQLite without database/sql, which costs as much as the
// writes themselves. One goroutine may use it at a time.
type sqliteWriter struct {
	conn *sqlite.Conn
	// statements are the first prepared statements, up to maxPrepared. Any further one is prepared for one use.
	statements map[string]*writerStatement
}

// writerStatement is a prepared statement.
type writerStatement struct {
	*sqlite.Stmt
	// args are the indexes of the arguments of the parameters.
	args []int
	// large are the parameters whose arguments take much memory.
	large []int
}

// largeArgument is the length from which on an argument is large.
const largeArgument = 4096

// openSQLiteWriter opens the database, and creates it if it does not exist.
func openSQLiteWriter(path, vfs string) (*sqliteWriter, error) {
	conn, err := sqlite.OpenConn(sqliteAddress(path, "rwc", vfs), sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	w := &sqliteWriter{conn: conn, statements: map[string]*writerStatement{}}
	for _, s := range sqliteSettings {
		if _, err := w.exec("PRAGMA " + s.name + "(" + s.value + ")"); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return w, nil
}

// prepare returns the statement of a text. Call done after its use.
func (w *sqliteWriter) prepare(text string) (_ *writerStatement, done func() error, err error) {
	if st := w.statements[text]; st != nil {
		return st, st.release, nil
	}
	isKept := len(w.statements) < maxPrepared
	var stmt *sqlite.Stmt
	if isKept {
		stmt, err = w.conn.Prepare(text)
	} else {
		stmt, _, err = w.conn.PrepareTransient(text)
	}
	if err != nil {
		return nil, nil, err
	}
	st, err := newWriterStatement(stmt)
	if err != nil {
		return nil, nil, errors.Join(err, stmt.Finalize())
	}
	if !isKept {
		return st, stmt.Finalize, nil
	}
	w.statements[text] = st
	return st, st.release, nil
}

// newWriterStatement finds out which arguments the parameters $1, $2 … stand for. SQLite itself numbers such parameters by
// their first appearance.
func newWriterStatement(stmt *sqlite.Stmt) (*writerStatement, error) {
	st := &writerStatement{Stmt: stmt}
	for i := range stmt.BindParamCount() {
		name := stmt.BindParamName(i + 1)
		n, err := strconv.Atoi(strings.TrimPrefix(name, "$"))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("SQLite: the parameter %q has no number", name)
		}
		st.args = append(st.args, n-1)
	}
	return st, nil
}

// release ends the use of the statement, and frees the memory of large arguments. The others stay until the next use: if
// they were cleared, SQLite would prepare some statements again each time.
func (st *writerStatement) release() error {
	err := st.Reset()
	for _, param := range st.large {
		st.BindNull(param)
	}
	st.large = st.large[:0]
	return err
}

func (st *writerStatement) bind(args []any) error {
	for i, n := range st.args {
		if n >= len(args) {
			return fmt.Errorf("SQLite: the parameter $%d has no argument", n+1)
		}
		if err := st.bindOne(i+1, args[n]); err != nil {
			return err
		}
	}
	return nil
}

func (st *writerStatement) bindOne(param int, arg any) error {
	switch v := arg.(type) {
	case string:
		st.BindText(param, v)
		st.noteLarge(param, len(v))
	case int64:
		st.BindInt64(param, v)
	case int:
		st.BindInt64(param, int64(v))
	case []byte:
		if v == nil {
			st.BindNull(param)
		} else {
			st.BindBytes(param, v)
			st.noteLarge(param, len(v))
		}
	case float64:
		st.BindFloat(param, v)
	case bool:
		st.BindBool(param, v)
	case nil:
		st.BindNull(param)
	default:
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		if _, isTime := value.(time.Time); isTime {
			return errors.New("SQLite: an instant is stored in milliseconds")
		}
		return st.bindOne(param, value)
	}
	return nil
}

func (st *writerStatement) noteLarge(param, length int) {
	if length >= largeArgument {
		st.large = append(st.large, param)
	}
}

// exec runs a statement, and returns how many rows it changed.
func (w *sqliteWriter) exec(text string, args ...any) (changed int, err error) {
	st, done, err := w.prepare(text)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := st.bind(args); err != nil {
		return 0, err
	}
	for more := true; more; {
		if more, err = st.Step(); err != nil {
			return 0, err
		}
	}
	return w.conn.Changes(), nil
}

// query passes the rows of a query to scan.
func (w *sqliteWriter) query(text string, args []any, scan func(rows) error) (err error) {
	st, done, err := w.prepare(text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := st.bind(args); err != nil {
		return err
	}
	return scan(&writerRows{stmt: st.Stmt})
}

// queryRow reads the only row of a query.
func (w *sqliteWriter) queryRow(text string, dest ...any) error {
	return w.query(text, nil, func(rs rows) error {
		if !rs.Next() {
			return errors.Join(rs.Err(), fmt.Errorf("SQLite: no row: %s", text))
		}
		return rs.Scan(dest...)
	})
}

// forget drops the prepared statements, because the schema has changed.
func (w *sqliteWriter) forget() error {
	var errs []error
	for _, st := range w.statements {
		errs = append(errs, st.Finalize())
	}
	clear(w.statements)
	return errors.Join(errs...)
}

// interruptWhenDone makes statements fail after ctx has ended. Call end after them.
func (w *sqliteWriter) interruptWhenDone(ctx context.Context) (end func()) {
	w.conn.SetInterrupt(ctx.Done())
	return func() { w.conn.SetInterrupt(nil) }
}

func (w *sqliteWriter) close() error { return w.conn.Close() }

// writerRows are the rows of a query on the connection for writes.
type writerRows struct {
	stmt *sqlite.Stmt
	err  error
}

func (r *writerRows) Next() bool {
	var more bool
	more, r.err = r.stmt.Step()
	return more
}

func (r *writerRows) Err() error { return r.err }

func (r *writerRows) Scan(dest ...any) error {
	if n := r.stmt.ColumnCount(); n != len(dest) {
		return fmt.Errorf("SQLite: %d columns are read into %d variables", n, len(dest))
	}
	for i, d := range dest {
		if err := r.scanColumn(i, d); err != nil {
			return fmt.Errorf("SQLite: column %d: %w", i, err)
		}
	}
	return nil
}

func (r *writerRows) scanColumn(i int, dest any) error {
	switch d := dest.(type) {
	case *string:
		*d = r.stmt.ColumnText(i)
		if *d == "" {
			return r.checkNotNull(i)
		}
	case *int64:
		*d = r.stmt.ColumnInt64(i)
		if *d == 0 {
			return r.checkNotNull(i)
		}
	case *[]byte:
		*d = nil
		if r.stmt.ColumnType(i) != sqlite.TypeNull {
			*d = make([]byte, r.stmt.ColumnLen(i))
			r.stmt.ColumnBytes(i, *d)
		}
	default:
		v := reflect.ValueOf(dest).Elem()
		switch {
		case v.Kind() == reflect.String:
			v.SetString(r.stmt.ColumnText(i))
		case v.CanInt():
			v.SetInt(r.stmt.ColumnInt64(i))
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
			data := make([]byte, r.stmt.ColumnLen(i))
			r.stmt.ColumnBytes(i, data)
			v.SetBytes(data)
		default:
			return fmt.Errorf("a %T cannot be read", dest)
		}
		return r.checkNotNull(i)
	}
	return nil
}

var errNull = errors.New("the value is NULL")

func (r *writerRows) checkNotNull(i int) error {
	if r.stmt.ColumnType(i) == sqlite.TypeNull {
		return errNull
	}
	return nil
}
