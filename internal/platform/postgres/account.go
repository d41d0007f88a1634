package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// unprivilegedUsers may run PostgreSQL when Slipway itself runs as root, which PostgreSQL refuses to do. The
// first existing one is used.
var unprivilegedUsers = []string{"postgres", "nobody"}

// account is the system user that the PostgreSQL server runs as.
type account struct {
	name     string
	uid, gid int
	switched bool // a user other than this process's: the server is started by setuid
}

func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return ownAccount(), nil
	}
	for _, name := range unprivilegedUsers {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return account{}, fmt.Errorf("user %s has uid %q: %w", name, u.Uid, err)
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return account{}, fmt.Errorf("user %s has gid %q: %w", name, u.Gid, err)
		}
		return account{name: name, uid: uid, gid: gid, switched: true}, nil
	}
	return account{}, fmt.Errorf("require a user postgres or nobody, because PostgreSQL does not run as root")
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
