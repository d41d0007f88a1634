package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// account is a line of /etc/passwd.
type account struct {
	uid, gid int
	home     string
}

// account looks a user up below the root prefix; os/user knows only this process's own root.
func (i *Installer) account(name string) (account, error) {
	fields, err := i.databaseLine("/etc/passwd", name, 6)
	if err != nil {
		return account{}, err
	}
	uid, err1 := strconv.Atoi(fields[2])
	gid, err2 := strconv.Atoi(fields[3])
	if err := errors.Join(err1, err2); err != nil {
		return account{}, fmt.Errorf("read user %s: %w", name, err)
	}
	return account{uid: uid, gid: gid, home: fields[5]}, nil
}

// databaseLine finds the line of a name; CoreOS keeps its own names in /usr/lib.
func (i *Installer) databaseLine(file, name string, atLeast int) ([]string, error) {
	for _, place := range []string{file, path.Join("/usr/lib", path.Base(file))} {
		content, err := os.ReadFile(i.Root.Path(place))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			fields := strings.Split(strings.TrimSpace(line), ":")
			if fields[0] == name && len(fields) >= atLeast {
				return fields, nil
			}
		}
	}
	return nil, fmt.Errorf("no %s in %s", name, file)
}

// own gives a file to the user and group of its Ignition entry. Without the privilege to do so, as in a
// simulated tree, the file keeps its owner.
func (i *Installer) own(name string, user types.NodeUser, group types.NodeGroup) error {
	uid, err := i.number(user.ID, user.Name, "/etc/passwd")
	if err != nil {
		return err
	}
	gid, err := i.number(group.ID, group.Name, "/etc/group")
	if err != nil {
		return err
	}
	if uid < 0 && gid < 0 {
		return nil
	}
	if err := os.Lchown(i.Root.Path(name), uid, gid); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// owner has the ids of a node's user and group.
type owner struct{ uid, gid int }

// sysOwner returns the owner of a node that was looked at; false where there is none.
func sysOwner(info fs.FileInfo) (owner, bool) {
	if info == nil {
		return owner{}, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(stat.Uid), int(stat.Gid)}, true
}

// number returns an id given as such or by name; -1 leaves it as it is.
func (i *Installer) number(id *int, name *string, file string) (int, error) {
	switch {
	case id != nil:
		return *id, nil
	case name == nil || *name == "":
		return -1, nil
	case *name == "root":
		return 0, nil
	}
	fields, err := i.databaseLine(file, *name, 3)
	if err != nil {
		return -1, err
	}
	return strconv.Atoi(fields[2])
}
