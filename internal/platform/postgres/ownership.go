package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// handOver gives the cluster to the account where it belongs to another one, such as the account of an earlier version. The cluster's
// own folder changes last: a start that is killed before repeats the change.
func (p *Server) handOver(ctx context.Context) error {
	if !p.account.switched {
		return nil
	}
	var top unix.Stat_t
	if err := unix.Lstat(p.folder.data, &top); err != nil {
		return fmt.Errorf("read owner of %s: %w", p.folder.data, err)
	}
	if int(top.Uid) == p.account.uid {
		return nil
	}
	// A server of the former account could still write.
	if err := p.clearLeftovers(ctx); err != nil {
		return err
	}
	p.logger.Info("giving the database to another user", "folder", p.folder.data, "from_uid", top.Uid, "to", p.account.name)
	h := handover{from: top.Uid, to: p.account}
	if err := h.tree(p.folder.data); err != nil {
		return fmt.Errorf("give database to user %s: %w", p.account.name, err)
	}
	return nil
}

// handover changes the owner of a tree whose former owner may still change it: each file is opened without following links and
// examined before it is changed, and only files of the former owner are.
type handover struct {
	from  uint32
	to    account
	links []string // symbolic links to files that the account does not own
}

func (h *handover) tree(path string) error {
	dir, err := openDir(unix.AT_FDCWD, path)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = dir.Close() }()
	if err := h.entries(dir, path); err != nil {
		return err
	}
	if len(h.links) > 0 {
		return fmt.Errorf("%s: symbolic links to files of another user, which is not changed; "+
			"give the targets that belong to the database to user %s, and start again", strings.Join(h.links, ", "), h.to.name)
	}
	// Without this the folder could have its owner after a power cut, and its files not.
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return &fs.PathError{Op: "syncfs", Path: path, Err: err}
	}
	return h.change(int(dir.Fd()), path)
}

// entries changes all that a folder contains.
func (h *handover) entries(dir *os.File, path string) error {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := h.entry(int(dir.Fd()), name, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (h *handover) entry(parent int, name, path string) error {
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return h.folder(parent, name, path)
	case unix.S_IFLNK:
		h.examineTarget(path)
	}
	return h.change(fd, path)
}

// folder changes a folder after its content.
func (h *handover) folder(parent int, name, path string) error {
	dir, err := openDir(parent, name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = dir.Close() }()
	if err := h.entries(dir, path); err != nil {
		return err
	}
	return h.change(int(dir.Fd()), path)
}

// change gives an open file to the account. Files of third users are left unchanged.
func (h *handover) change(fd int, path string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Uid != h.from {
		return nil
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFREG && stat.Nlink > 1 {
		return fmt.Errorf("require files with one name, found %s with %d (hard links)", path, stat.Nlink)
	}
	if err := unix.Fchownat(fd, "", h.to.uid, h.to.gid, unix.AT_EMPTY_PATH); err != nil {
		return &fs.PathError{Op: "chown", Path: path, Err: err}
	}
	return nil
}

// examineTarget keeps the name of a link whose target the account does not own. The server could not work with it.
func (h *handover) examineTarget(path string) {
	var stat unix.Stat_t
	err := unix.Stat(path, &stat)
	if errors.Is(err, unix.ENOENT) || err == nil && int(stat.Uid) == h.to.uid {
		return
	}
	h.links = append(h.links, path)
}

func openDir(parent int, name string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
