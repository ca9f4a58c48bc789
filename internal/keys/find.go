package keys

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/private"
)

// CredentialName is the name of the systemd credential that is the key file.
const CredentialName = "fermata-master-key"

// fileSuffix is added to the path of the data folder to get the path of the key file.
const fileSuffix = ".key"

// Location is where the key file of a server is.
type Location struct {
	Path   string
	Source Source
	// DataFolder is the data folder. The file must not be inside it.
	DataFolder string
}

// Source is how a key file was found.
type Source string

// Sources of a key file. The first one that names a file decides.
const (
	// FromFlag is --master-key-file or FERMATA_MASTER_KEY_FILE.
	FromFlag Source = "flag"
	// FromCredential is a credential that systemd passes to the service.
	FromCredential Source = "credential"
	// FromDefault is the file beside the data folder.
	FromDefault Source = "default"
)

// Locate returns where the key file of a server is: the named file, a credential of systemd, or a file beside the
// data folder. It refuses a file inside the data folder, because a copy of the folder would contain both.
func Locate(path, dataFolder string) (Location, error) {
	p := Location{Path: dataFolder + fileSuffix, Source: FromDefault, DataFolder: dataFolder}
	if folder := os.Getenv("CREDENTIALS_DIRECTORY"); path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return p, err
		}
		p.Path, p.Source = absolute, FromFlag
	} else if credential := filepath.Join(folder, CredentialName); folder != "" && exists(credential) {
		p.Path, p.Source = credential, FromCredential
	}
	if isInside(p.Path, dataFolder) {
		return p, fermata.Errorf(fermata.CodeInvalidRequest, "the key file %s is inside the data folder: a copy of the folder would hold the key, too", p.Path).
			WithHint("move it out of %s, and name its place with --master-key-file or FERMATA_MASTER_KEY_FILE", dataFolder)
	}
	return p, nil
}

func exists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // systemd names the folder
	return err == nil
}

// isInside reports whether a file is in a folder or below it, with all links resolved.
func isInside(path, folder string) bool {
	relative, err := filepath.Rel(resolve(folder), filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path)))
	return err == nil && filepath.IsLocal(relative)
}

// resolve resolves the links of a path, as far as the path exists.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}

// Load reads the key file at the location, and removes the rights of other users on it.
func (l Location) Load(log *slog.Logger) (*Ring, error) {
	r, err := Load(l.Path)
	if err != nil {
		return nil, err
	}
	r.readOnly = l.Source == FromCredential
	l.restrict(log)
	return r, nil
}

// restrict removes the rights of other users. If this fails, as for a secret that a cluster mounts, it logs a
// warning.
func (l Location) restrict(log *slog.Logger) {
	info, err := os.Stat(l.Path)
	if err != nil || !private.IsOpenToOthers(info) {
		return
	}
	if err := private.Restrict(l.Path, log); err != nil {
		log.Warn("the key file is open to other users of this machine", "file", l.Path, "rights", info.Mode().Perm().String(), "error", err)
		return
	}
	log.Warn("other users may have read the master key; make a new one, and replace the secrets of the channels", "file", l.Path)
}

// LoadOrCreate reads the key file at the location. If there is none, it creates one. created reports whether it did.
func (l Location) LoadOrCreate(log *slog.Logger) (r *Ring, created bool, err error) {
	r, err = l.Load(log)
	if !errors.Is(err, fs.ErrNotExist) {
		return r, false, err
	}
	if l.Source == FromDefault && isMount(l.DataFolder) {
		return nil, false, fermata.Errorf(fermata.CodeInvalidRequest,
			"there is no master key yet, and %s is a volume of its own: a key beside it would be lost with the container", l.DataFolder).
			WithHint("name a file on another volume that lasts, with --master-key-file or FERMATA_MASTER_KEY_FILE")
	}
	if r, err = Create(l.Path); err == nil {
		return r, true, nil
	}
	// Another server that started at the same time may have created it.
	if theirs, loadErr := l.Load(log); loadErr == nil {
		return theirs, false, nil
	}
	return nil, false, err
}
