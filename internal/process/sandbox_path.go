package process

import (
	"os"
	"path/filepath"
	"slices"
)

// maxPathPrograms limits the programs that OpenPath makes visible one by one. The time to start a sandbox grows with
// the square of their number, to a third of a second at 400.
const maxPathPrograms = 400

// OpenPath makes the programs in the folders of the variable PATH visible, if the sandbox hides these folders. It shows
// the programs that exist now, and nothing else in the folders. It returns the folders that it left out because they
// hold too many programs.
func (s *Sandbox) OpenPath(folders []string) (skipped []string) {
	laid := s.mounts("")
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		paths := []string{filepath.Clean(folder)}
		if target, err := filepath.EvalSymlinks(folder); err == nil && target != paths[0] {
			paths = append(paths, target)
		}
		for _, path := range paths {
			if !isHidden(laid, path) {
				continue
			}
			programs := programsIn(path)
			if len(s.Programs)+len(programs) > maxPathPrograms {
				skipped = append(skipped, folder)
				break
			}
			s.Programs = append(s.Programs, programs...)
		}
	}
	return skipped
}

// programsIn returns the paths of the programs in a folder: executable files, and links to such files.
func programsIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var programs []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			programs = append(programs, path)
		}
	}
	return programs
}

// programMounts returns mounts for the programs that the other mounts hide. A link stays a link, because a program may
// find its other files by the path of its own file.
func (s *Sandbox) programMounts(laid []mount) []mount {
	var all []mount
	for _, path := range slices.Compact(slices.Sorted(slices.Values(s.Programs))) {
		target, err := filepath.EvalSymlinks(path)
		switch {
		case err != nil || !isHidden(laid, path):
		case target == path:
			all = append(all, mount{mountReadOnly, path, path})
		default:
			all = append(all, mount{mountLink, target, path})
		}
	}
	return all
}
