package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// maxFileSize is the largest size, in bytes, of a file that is sent in a request. It is the limit of the server.
const maxFileSize = 1 << 20

// standardInput is the file name that means standard input.
const standardInput = "-"

// readFile reads the text file that a flag or an argument names; - is standard input. It refuses a file that is
// missing, a folder, empty, too large or not text. The error names the file and the flag.
func (s *session) readFile(flag, name string, maxSize int) ([]byte, error) {
	label := fileLabel(name)
	if name == standardInput {
		if s.stdinFlag != "" {
			return nil, flagErrorf(flag, "standard input is read for %s already", s.stdinFlag).WithHint("name a file for one of the two")
		}
		s.stdinFlag = flag
	}
	data, err := s.readAtMost(name, maxSize)
	// Some editors put a byte order mark before the text. It does not belong to the text.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case err != nil:
		return nil, readError(flag, label, err)
	case len(data) > maxSize:
		return nil, flagErrorf(flag, "%s has more than %d KiB", label, maxSize>>10)
	case len(data) == 0:
		return nil, flagErrorf(flag, "%s is empty", label)
	case !utf8.Valid(data):
		return nil, flagErrorf(flag, "%s is not valid UTF-8", label)
	}
	return data, nil
}

// fileLabel returns the name of a file for people.
func fileLabel(name string) string {
	if name == standardInput {
		return "standard input"
	}
	return name
}

// readAtMost reads at most one byte more than the limit, so that the caller sees a file that is too large. It must not
// read further, because a device has no end.
func (s *session) readAtMost(name string, maxSize int) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(io.LimitReader(s.lines, int64(maxSize)+1))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, int64(maxSize)+1))
}

// readError returns an error that says why a file cannot be read.
func readError(flag, name string, err error) *fermata.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return flagErrorf(flag, "there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return flagErrorf(flag, "the file %s may not be read by you", name)
	case errors.Is(err, syscall.EISDIR):
		return flagErrorf(flag, "%s is a folder, not a file", name)
	default:
		return flagErrorf(flag, "%s cannot be read: %w", name, err)
	}
}

// flagErrorf returns an error about a file that a flag names.
func flagErrorf(flag, format string, args ...any) *fermata.Error {
	return fermata.Errorf(fermata.CodeInvalidRequest, flag+": "+format, args...)
}

// readJSON reads the JSON file of --file as strictly as the API reads a body. The error names the field at fault.
func (s *session) readJSON(name string, into any) error {
	const flag = "--file"
	data, err := s.readFile(flag, name, maxFileSize)
	if err != nil {
		return err
	}
	return unmarshalFile(flag, name, data, into)
}

// unmarshalFile decodes JSON of a file. If name is "", the JSON is the value of the flag itself.
func unmarshalFile(flag, name string, data []byte, into any) error {
	err := strictjson.Unmarshal(data, into)
	fieldErr, ok := errors.AsType[*strictjson.FieldError](err)
	if !ok {
		return err
	}
	return flagFieldError(flag, name, data, fieldErr)
}
