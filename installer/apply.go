package installer

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/vincent-petithory/dataurl"
)

const (
	defaultFileMode = 0o644
	defaultDirMode  = 0o755
	unitDir         = "/etc/systemd/system"
)

// apply brings a running host to the state of an Ignition config: folders, files, links, SSH keys and systemd
// units, with the rules of Ignition's specification 3.5 for nodes that exist already. Members that it does not
// support are errors. Repeating it changes nothing.
func (i *Installer) apply(ctx context.Context, config []byte) error {
	parsed, _, err := v3_5.ParseCompatibleVersion(config)
	if err != nil {
		return fmt.Errorf("read the Ignition: %w", err)
	}
	if err := supported(parsed); err != nil {
		return fmt.Errorf("read the Ignition: %w", err)
	}
	directories := slices.SortedStableFunc(slices.Values(parsed.Storage.Directories), func(a, b types.Directory) int {
		return strings.Compare(a.Path, b.Path) // parents first
	})
	for _, d := range directories {
		if err := i.applyDirectory(d); err != nil {
			return fmt.Errorf("make folder %s: %w", d.Path, err)
		}
	}
	for _, f := range parsed.Storage.Files {
		if err := i.applyFile(f); err != nil {
			return fmt.Errorf("write file %s: %w", f.Path, err)
		}
	}
	for _, l := range parsed.Storage.Links {
		if err := i.applyLink(l); err != nil {
			return fmt.Errorf("make link %s: %w", l.Path, err)
		}
	}
	for _, u := range parsed.Passwd.Users {
		if err := i.applyKeys(u); err != nil {
			i.Log.Warn("SSH keys not added", "user", u.Name, "error", err)
		}
	}
	return i.applyUnits(ctx, parsed.Systemd.Units)
}

// errExists: a node exists, and the config does not say to overwrite it.
var errExists = errors.New("another node exists and overwrite is not true")

func (i *Installer) applyDirectory(d types.Directory) error {
	place := i.Root.Path(d.Path)
	info, err := os.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := i.newDirectory(place); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.IsDir() && !overwrites(d.Node):
		return errExists
	case !info.IsDir():
		if err := errors.Join(os.Remove(place), i.newDirectory(place)); err != nil {
			return err
		}
	case overwrites(d.Node):
		return errors.New("overwrite of a folder that exists is not supported on a running host")
	}
	if d.Mode != nil {
		if err := os.Chmod(place, fileMode(*d.Mode)); err != nil {
			return err
		}
	}
	return i.own(d.Path, d.User, d.Group)
}

func (i *Installer) newDirectory(place string) error {
	return errors.Join(os.MkdirAll(place, defaultDirMode), os.Chmod(place, defaultDirMode))
}

func overwrites(n types.Node) bool { return n.Overwrite != nil && *n.Overwrite }

// fileMode maps the mode of a config, which has the special bits of chmod(2).
func fileMode(mode int) fs.FileMode {
	out := fs.FileMode(mode).Perm() //nolint:gosec // the parser has checked its range
	for bit, special := range map[int]fs.FileMode{0o1000: fs.ModeSticky, 0o2000: fs.ModeSetgid, 0o4000: fs.ModeSetuid} {
		if mode&bit != 0 {
			out |= special
		}
	}
	return out
}

func (i *Installer) applyFile(f types.File) error {
	place := i.Root.Path(f.Path)
	info, err := os.Lstat(place)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case exists && !info.Mode().IsRegular() && !overwrites(f.Node):
		return errExists
	case exists && !info.Mode().IsRegular():
		if err := os.RemoveAll(place); err != nil {
			return err
		}
		exists = false
	}
	var before []byte
	if exists {
		if before, err = os.ReadFile(place); err != nil {
			return err
		}
	}
	content, err := i.contentOf(f, before, exists)
	if err != nil {
		return err
	}
	mode := fs.FileMode(defaultFileMode)
	keeps := exists && f.Contents.Source == nil
	switch {
	case f.Mode != nil:
		mode = fileMode(*f.Mode)
	case keeps:
		mode = info.Mode()
	}
	if err := i.writeFile(f.Path, content, mode); err != nil {
		return err
	}
	if owner, ok := sysOwner(info); keeps && ok {
		if err := os.Lchown(place, owner.uid, owner.gid); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return i.own(f.Path, f.User, f.Group)
}

// contentOf returns what a file holds afterwards: a file without a source keeps its content.
func (i *Installer) contentOf(f types.File, before []byte, exists bool) ([]byte, error) {
	content, err := contents(f.Contents)
	if err != nil {
		return nil, err
	}
	if f.Contents.Source == nil {
		content = before
	}
	for _, more := range f.Append {
		added, err := contents(more)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(content, added) { // an earlier try has added it
			content = append(content, added...)
		}
	}
	if exists && f.Contents.Source != nil && !overwrites(f.Node) && !bytes.Equal(content, before) {
		return nil, errExists
	}
	return content, nil
}

// contents unpacks what a config carries in itself, and checks its digest.
func contents(r types.Resource) ([]byte, error) {
	if r.Source == nil || *r.Source == "" {
		return nil, nil
	}
	if !strings.HasPrefix(*r.Source, "data:") {
		return nil, fmt.Errorf("require contents in the config, found the address %s", *r.Source)
	}
	data, err := dataurl.DecodeString(*r.Source)
	if err != nil {
		return nil, err
	}
	content := data.Data
	if r.Compression != nil && *r.Compression != "" {
		unpacked, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		if content, err = io.ReadAll(unpacked); err != nil {
			return nil, err
		}
	}
	// The digest is of the unpacked contents (specification, "verification").
	return content, verify(content, r.Verification.Hash)
}

// verify compares data with a digest of the form sha512-HEX or sha256-HEX; nil: any data.
func verify(data []byte, digest *string) error {
	if digest == nil || *digest == "" {
		return nil
	}
	name, want, _ := strings.Cut(*digest, "-")
	var sum []byte
	switch name {
	case "sha512":
		s := sha512.Sum512(data)
		sum = s[:]
	case "sha256":
		s := sha256.Sum256(data)
		sum = s[:]
	default:
		return fmt.Errorf("the digest %s is not supported", name)
	}
	if got := hex.EncodeToString(sum); got != want {
		return fmt.Errorf("require contents with %s %s, found %s", name, want, got)
	}
	return nil
}

func (i *Installer) applyLink(l types.Link) error {
	if l.Target == nil {
		return errors.New("the link has no target")
	}
	place, target := i.Root.Path(l.Path), *l.Target
	hard := l.Hard != nil && *l.Hard
	if hard {
		target = i.Root.Path(target)
	}
	switch same, err := linked(place, target, hard); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case same:
		return i.own(l.Path, l.User, l.Group)
	case !overwrites(l.Node):
		return errExists
	default:
		if err := os.RemoveAll(place); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path.Dir(place), defaultDirMode); err != nil {
		return err
	}
	if hard {
		return os.Link(target, place)
	}
	if err := os.Symlink(target, place); err != nil {
		return err
	}
	return i.own(l.Path, l.User, l.Group)
}

// linked reports whether the node at place is the link that the config asks for.
func linked(place, target string, hard bool) (bool, error) {
	info, err := os.Lstat(place)
	if err != nil {
		return false, err
	}
	if hard {
		other, err := os.Lstat(target)
		return err == nil && os.SameFile(info, other), nil
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return false, nil
	}
	have, err := os.Readlink(place)
	return have == target, err
}

// applyKeys authorizes the SSH keys of users who may help when the bootstrap does not start.
func (i *Installer) applyKeys(u types.PasswdUser) error {
	if len(u.SSHAuthorizedKeys) == 0 {
		return nil
	}
	account, err := i.account(u.Name)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, key := range u.SSHAuthorizedKeys {
		text.WriteString(string(key) + "\n")
	}
	file := path.Join(account.home, ".ssh/authorized_keys.d/ignition")
	for _, dir := range []string{path.Join(account.home, ".ssh"), path.Dir(file)} {
		if err := i.privateDir(dir); err != nil {
			return err
		}
	}
	if err := i.writeFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	for _, name := range []string{path.Join(account.home, ".ssh"), path.Dir(file), file} {
		if err := os.Lchown(i.Root.Path(name), account.uid, account.gid); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
