package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// DefaultAccount is the system user that the server runs as where root starts it and Options name no other. PostgreSQL refuses to run as
// root. No other program runs as this user, so no other program reads the data.
const DefaultAccount = "slipway-postgres"

// account is the system user that the PostgreSQL server runs as.
type account struct {
	name     string
	uid, gid int
	switched bool // a user other than this process's: the server is started by setuid
}

// errUnknownAccount is returned for an account that does not exist.
var errUnknownAccount = errors.New("account does not exist")

// serverAccount returns the account that the server runs as: this process's own, or, where root starts it, the user of this name.
func serverAccount(name string) (account, error) {
	if os.Geteuid() != 0 {
		return ownAccount(), nil
	}
	name = cmp.Or(name, DefaultAccount)
	u, err := user.Lookup(name)
	if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
		return account{}, fmt.Errorf("user %s, which PostgreSQL runs as: %w", name, errUnknownAccount)
	}
	if err != nil {
		return account{}, fmt.Errorf("find user %s: %w", name, err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, fmt.Errorf("user %s has uid %q: %w", name, u.Uid, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return account{}, fmt.Errorf("user %s has gid %q: %w", name, u.Gid, err)
	}
	if uid == 0 {
		return account{}, fmt.Errorf("require a user other than root for PostgreSQL (--postgres-user), found %s with uid 0", name)
	}
	return account{name: name, uid: uid, gid: gid, switched: true}, nil
}

// ensureAccount returns the account of serverAccount. It creates the default account where that does not exist; accounts that a setting
// names have to exist.
func ensureAccount(ctx context.Context, name string, logger *slog.Logger) (account, error) {
	owner, err := serverAccount(name)
	if !errors.Is(err, errUnknownAccount) {
		return owner, err
	}
	if cmp.Or(name, DefaultAccount) != DefaultAccount {
		return account{}, fmt.Errorf("%w: create it, or name another one with --postgres-user", err)
	}
	failure := createAccount(ctx, DefaultAccount)
	owner, err = serverAccount(name) // another process may have created it meanwhile
	if err != nil {
		return account{}, fmt.Errorf("%w, and cannot be created: %w: create it, name an existing user with --postgres-user, "+
			"or use a database of your own with --database-url", err, failure)
	}
	if failure == nil {
		logger.Info("created a system user for the database", "user", owner.name, "uid", owner.uid)
	}
	return owner, nil
}

// futureAccount describes the account that a start would use, without creating it.
func futureAccount(name string) (string, error) {
	owner, err := serverAccount(name)
	switch {
	case err == nil:
		return "as user " + owner.name, nil
	case !errors.Is(err, errUnknownAccount):
		return "", err
	case cmp.Or(name, DefaultAccount) != DefaultAccount:
		return "", fmt.Errorf("%w: create it, or name another one with --postgres-user", err)
	}
	for _, c := range creators {
		if creatorPath(c.program) != "" {
			return "as user " + DefaultAccount + ", which the first start creates", nil
		}
	}
	return "", fmt.Errorf("%w: create it, or name an existing user with --postgres-user", err)
}

// creators are the programs that create a system user without a password, a shell and a home folder, with their arguments. The first
// one that is installed is used.
var creators = []struct {
	program string
	args    []string
}{
	{"useradd", []string{
		"--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin",
		"--comment", "Slipway database",
	}},
	{"adduser", []string{"-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin", "-g", "Slipway database"}}, // BusyBox
}

func createAccount(ctx context.Context, name string) error {
	for _, c := range creators {
		path := creatorPath(c.program)
		if path == "" {
			continue
		}
		cmd := exec.CommandContext(ctx, path, append(slices.Clone(c.args), name)...)
		cmd.Env = childEnv
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c.program, err, lastLine(out))
		}
		return nil
	}
	return errors.New("neither useradd nor adduser is installed")
}

// creatorPath finds a program for administrators, whose folder is not on every PATH. Empty: it is not installed.
func creatorPath(program string) string {
	for _, name := range []string{program, filepath.Join("/usr/sbin", program), filepath.Join("/sbin", program)} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func ownAccount() account {
	own := account{uid: os.Geteuid(), gid: os.Getegid()}
	own.name = "uid " + strconv.Itoa(own.uid)
	if u, err := user.Current(); err == nil {
		own.name = u.Username
	}
	return own
}

// attr starts a child in a process group of its own as this account.
func (a account) attr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// own creates the folder if it is missing, private to the account.
func (a account) own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("make folder private: %w", err)
	}
	if a.switched {
		if err := os.Chown(dir, a.uid, a.gid); err != nil {
			return fmt.Errorf("give folder to user %s: %w", a.name, err)
		}
	}
	return nil
}

// canEnter reports the first folder above dir that the account may not pass through.
func (a account) canEnter(dir string) error {
	if !a.switched {
		return nil
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return fmt.Errorf("read folder: %w", err)
		}
		if !a.mayPass(info) {
			return fmt.Errorf("user %s, which PostgreSQL runs as, cannot pass through %s (mode %04o): "+
				"allow it (chmod o+x %s) or choose another data folder", a.name, parent, info.Mode().Perm(), parent)
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

func (a account) mayPass(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(stat.Uid) == a.uid:
		return mode&0o100 != 0
	case ok && int(stat.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
