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

// mostInFile is the largest size, in bytes, of a file that is sent in a request. It is the limit of the server.
const mostInFile = 1 << 20

// standardInput is the file name that means standard input.
const standardInput = "-"

// readFile reads the text file that a flag or an argument names; - is standard input. It refuses a file that is
// missing, a folder, empty, too large or not text. The error names the file and the flag.
func (s *session) readFile(flag, name string, most int) ([]byte, error) {
	called := callFile(name)
	if name == standardInput {
		if s.readBy != "" {
			return nil, badFile(flag, "standard input is read for %s already", s.readBy).WithHint("name a file for one of the two")
		}
		s.readBy = flag
	}
	data, err := s.readAtMost(name, most)
	// Some editors put a byte order mark before the text. It does not belong to the text.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case err != nil:
		return nil, unreadable(flag, called, err)
	case len(data) > most:
		return nil, badFile(flag, "%s has more than %d KiB", called, most>>10)
	case len(data) == 0:
		return nil, badFile(flag, "%s is empty", called)
	case !utf8.Valid(data):
		return nil, badFile(flag, "%s is not valid UTF-8", called)
	}
	return data, nil
}

// callFile returns the name of a file for people.
func callFile(name string) string {
	if name == standardInput {
		return "standard input"
	}
	return name
}

// readAtMost reads at most one byte more than the limit, so that the caller sees a file that is too large. It must not
// read further, because a device has no end.
func (s *session) readAtMost(name string, most int) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(io.LimitReader(s.lines, int64(most)+1))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, int64(most)+1))
}

// unreadable returns an error that tells why a file cannot be read.
func unreadable(flag, name string, err error) *fermata.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return badFile(flag, "there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return badFile(flag, "the file %s may not be read by you", name)
	case errors.Is(err, syscall.EISDIR):
		return badFile(flag, "%s is a folder, not a file", name)
	default:
		return badFile(flag, "%s cannot be read: %w", name, err)
	}
}

// badFile returns an error about a file that a flag names.
func badFile(flag, format string, args ...any) *fermata.Error {
	return fermata.Errorf(fermata.CodeInvalidRequest, flag+": "+format, args...)
}

// readJSON reads the JSON file of --file as strictly as the API reads a body. The error names the field at fault.
func (s *session) readJSON(name string, into any) error {
	const flag = "--file"
	data, err := s.readFile(flag, name, mostInFile)
	if err != nil {
		return err
	}
	return unmarshalFile(flag, name, data, into)
}

// unmarshalFile decodes JSON of a file. If name is "", the JSON stands in the flag itself.
func unmarshalFile(flag, name string, data []byte, into any) error {
	err := strictjson.Unmarshal(data, into)
	fault, ok := errors.AsType[*strictjson.FieldError](err)
	if !ok {
		return err
	}
	return flagFault(flag, name, data, fault)
}
