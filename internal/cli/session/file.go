package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// MaxFileSize is the largest size, in bytes, of a file that is sent in a request. It is the limit of the server.
const MaxFileSize = 1 << 20

// StandardInput is the file name that means standard input.
const StandardInput = "-"

// ReadFile reads the text file that a flag or an argument names; - is standard input. It refuses a file that is
// missing, a folder, empty, too large or not text. The error names the file and the flag.
func (s *Session) ReadFile(flag, name string, maxSize int) ([]byte, error) {
	label := FileLabel(name)
	if name == StandardInput {
		if s.stdinFlag != "" {
			return nil, FlagErrorf(flag, "standard input is read for %s already", s.stdinFlag).WithHint("name a file for one of the two")
		}
		s.stdinFlag = flag
	}
	data, err := s.readAtMost(name, maxSize)
	// Some editors put a byte order mark before the text. It does not belong to the text.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case err != nil:
		return nil, ReadError(flag, label, err)
	case len(data) > maxSize:
		return nil, FlagErrorf(flag, "%s has more than %d KiB", label, maxSize>>10)
	case len(data) == 0:
		return nil, FlagErrorf(flag, "%s is empty", label)
	case !utf8.Valid(data):
		return nil, FlagErrorf(flag, "%s is not valid UTF-8", label)
	}
	return data, nil
}

// FileLabel returns the name of a file for people.
func FileLabel(name string) string {
	if name == StandardInput {
		return "standard input"
	}
	return name
}

// readAtMost reads at most one byte more than the limit, so that the caller sees a file that is too large. It must not
// read further, because a device has no end.
func (s *Session) readAtMost(name string, maxSize int) ([]byte, error) {
	if name == StandardInput {
		return io.ReadAll(io.LimitReader(s.Lines, int64(maxSize)+1))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, int64(maxSize)+1))
}

// ReadError returns an error that says why a file cannot be read.
func ReadError(flag, name string, err error) *fermata.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return FlagErrorf(flag, "there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return FlagErrorf(flag, "the file %s may not be read by you", name)
	case errors.Is(err, syscall.EISDIR):
		return FlagErrorf(flag, "%s is a folder, not a file", name)
	default:
		return FlagErrorf(flag, "%s cannot be read: %w", name, err)
	}
}

// FlagErrorf returns an error about a file that a flag names.
func FlagErrorf(flag, format string, args ...any) *fermata.Error {
	return fermata.Errorf(fermata.CodeInvalidRequest, flag+": "+format, args...)
}

// ReadJSON reads the JSON file of --file as strictly as the API reads a body. The error names the field at fault.
func (s *Session) ReadJSON(name string, into any) error {
	const flag = "--file"
	data, err := s.ReadFile(flag, name, MaxFileSize)
	if err != nil {
		return err
	}
	return UnmarshalFile(flag, name, data, into)
}

// UnmarshalFile decodes JSON of a file. If name is "", the JSON is the value of the flag itself.
func UnmarshalFile(flag, name string, data []byte, into any) error {
	err := strictjson.Unmarshal(data, into)
	fieldErr, ok := errors.AsType[*strictjson.FieldError](err)
	if !ok {
		return err
	}
	return flagFieldError(flag, name, data, fieldErr)
}

// WriteNewFile writes a new file that only its owner can read. If the content
// cannot be written completely, it removes the file.
func WriteNewFile(name string, write func(io.Writer) (int64, error)) (int64, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, fermata.Errorf(fermata.CodeInvalidRequest, "%s is there already", name).WithHint("name another file")
	}
	if err != nil {
		return 0, fermata.Errorf(fermata.CodeInternal, "%v", err)
	}
	n, err := write(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(name))
	}
	return n, nil
}

// TokenFromFlag returns the token of a flag. A value that begins with @ names a file with the token.
func (s *Session) TokenFromFlag(flag, given string) (string, error) {
	name, isFile := strings.CutPrefix(given, "@")
	if !isFile {
		return given, nil
	}
	data, err := s.ReadFile(flag, name, MaxFileSize)
	return strings.TrimSpace(string(data)), err
}
