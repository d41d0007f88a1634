package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"slipway/internal/model"
)

// User is the user of the system that installers run as. It needs no entry in /etc/passwd.
type User struct{ UID, GID uint32 }

// ParseUser reads UID or UID:GID; the group has by default the same number. 0 is nil: the service's own user.
func ParseUser(text string) (*User, error) {
	if text == "" {
		return nil, nil
	}
	uidText, gidText, hasGroup := strings.Cut(text, ":")
	if !hasGroup {
		gidText = uidText
	}
	uid, uidErr := strconv.ParseUint(uidText, 10, 31)
	gid, gidErr := strconv.ParseUint(gidText, 10, 31)
	switch {
	case uidErr != nil || gidErr != nil:
		return nil, model.Invalidf("require UID, UID:GID or FIRST-LAST in numbers, found %q", text)
	case uid == 0:
		return nil, nil
	case gid == 0:
		return nil, model.Invalidf("require a group other than 0, found %q", text)
	}
	return &User{UID: uint32(uid), GID: uint32(gid)}, nil
}

// user returns the user of a run, and gives it back after that.
func (r *Releases) user(ctx context.Context) (u *User, giveBack func(), err error) {
	if r.opts.Users == nil {
		return r.opts.User, func() {}, nil
	}
	lease, err := r.opts.Users.Lease(ctx, r.work)
	if err != nil {
		return nil, nil, err
	}
	return &User{UID: lease.ID, GID: lease.ID}, lease.Release, nil
}

// private and shared are modes of folders: the second lets other users through to what is theirs.
const (
	privateFolder = 0o700
	sharedFolder  = 0o711
)

// folderMode and programMode are the modes that let the user reach its folder and its program.
func (u *User) folderMode() fs.FileMode {
	if u == nil {
		return privateFolder
	}
	return sharedFolder
}

func (u *User) programMode() fs.FileMode {
	if u == nil {
		return 0o500
	}
	return 0o555
}

// give makes a file or folder the user's; a link is not followed.
func (u *User) give(path string) error {
	if u == nil {
		return nil
	}
	return os.Lchown(path, int(u.UID), int(u.GID))
}

// canEnter returns an error that names the first folder above dir that the user may not pass through.
func (u *User) canEnter(dir string) error {
	if u == nil {
		return nil
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return fmt.Errorf("read folder: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("user %d, which the OpenShift installer runs as, cannot pass through %s (mode %04o): "+
				"allow it (chmod o+x %[2]s), or choose another data folder, or INSTALLER_USER", u.UID, parent, info.Mode().Perm())
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

// attributes returns the attributes of a process that belongs to the user, in namespaces of its own: without the network of the machine,
// and with no process that outlives it.
func (p process) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.user == nil {
		return a
	}
	a.Credential = &syscall.Credential{Uid: p.user.UID, Gid: p.user.GID}
	a.Cloneflags = p.namespaces
	return a
}

// namespacesRefused reports whether a process could not be started in namespaces of its own: in many containers root
// may not make them.
func namespacesRefused(err error) bool {
	for _, refusal := range []error{syscall.EPERM, syscall.EINVAL, syscall.ENOSPC} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
