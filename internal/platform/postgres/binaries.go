package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNotInstalled is returned when no usable PostgreSQL programs are installed on this machine.
var ErrNotInstalled = errors.New("no PostgreSQL server programs found (postgres, initdb)")

// minPostgres is the oldest major version the Temporal server supports.
const minPostgres = 12

// binFolders are where distributions keep the server programs, which are not on the PATH.
var binFolders = []string{
	"/usr/lib/postgresql/*/bin",  // Debian, Ubuntu
	"/usr/pgsql-*/bin",           // packages of postgresql.org for RHEL
	"/usr/libexec/postgresql*",   // Alpine
	"/usr/local/pgsql/bin",       // built from source
	"/opt/homebrew/opt/*pg*/bin", // developers' machines
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// binaries is one installation of PostgreSQL.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(name string) string { return filepath.Join(b.dir, name) }

// findBinaries picks the installation for a cluster of the given major version; zero
// means a new cluster, which gets the newest one. folders are globs; when empty, the PATH
// and the usual places are searched.
func findBinaries(major int, folders []string) (binaries, error) {
	found := installations(folders)
	if len(found) == 0 {
		return binaries{}, fmt.Errorf("%w: install them (apt-get install postgresql, or dnf install "+
			"postgresql-server postgresql-contrib), or use a database of your own", ErrNotInstalled)
	}
	if major == 0 {
		return found[len(found)-1], nil
	}
	var have []string
	for _, b := range found {
		if b.major == major {
			return b, nil
		}
		have = append(have, strconv.Itoa(b.major))
	}
	return binaries{}, fmt.Errorf("the data folder needs PostgreSQL %d, found %s: "+
		"install it (apt-get install postgresql-%d)", major, strings.Join(have, ", "), major)
}

// Tool returns the path of a program of PostgreSQL that fits the database in a data folder; without one, the newest.
func Tool(dataDir, name string) (string, error) {
	root, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("find data folder: %w", err)
	}
	major, err := newFolder(root).major()
	if err != nil {
		return "", err
	}
	found, err := findBinaries(major, nil)
	if err != nil {
		return "", err
	}
	path := found.path(name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return path, nil
}

// Installed describes the programs that a start with this data folder would run, or returns what Start would end with before it runs
// any of them. account is Options.Account.
func Installed(dataDir, account string) (string, error) {
	as, err := futureAccount(account)
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("find data folder: %w", err)
	}
	f := newFolder(root)
	if err := f.fits(); err != nil {
		return "", err
	}
	major, err := f.major()
	if err != nil {
		return "", err
	}
	found, err := findBinaries(major, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("version %d in %s, %s", found.major, found.dir, as), nil
}

// installations lists the usable installations, oldest first.
func installations(folders []string) []binaries {
	var found []binaries
	for _, dir := range candidateFolders(folders) {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output() //nolint:noctx // prints a line and ends
		if err != nil {
			continue
		}
		match := versionText.FindSubmatch(out)
		if match == nil {
			continue
		}
		if major, _ := strconv.Atoi(string(match[1])); major >= minPostgres {
			found = append(found, binaries{dir: dir, major: major})
		}
	}
	slices.SortStableFunc(found, func(a, b binaries) int { return cmp.Compare(a.major, b.major) })
	return found
}

func candidateFolders(folders []string) []string {
	var dirs []string
	if len(folders) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				dirs = append(dirs, filepath.Dir(path))
			}
		}
		folders = binFolders
	}
	for _, glob := range folders {
		match, _ := filepath.Glob(glob)
		dirs = append(dirs, match...)
	}
	return dirs
}
