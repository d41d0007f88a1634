package installer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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
// units, but not disks and file systems. Repeating it changes nothing. Remote contents are refused:
// bootstrap.ign contains its own.
func (i *Installer) apply(ctx context.Context, config []byte) error {
	parsed, _, err := v3_5.ParseCompatibleVersion(config)
	if err != nil {
		return fmt.Errorf("read the Ignition: %w", err)
	}
	for _, d := range parsed.Storage.Directories {
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

func (i *Installer) applyDirectory(d types.Directory) error {
	place := i.Root.Path(d.Path)
	if err := os.MkdirAll(place, defaultDirMode); err != nil {
		return err
	}
	if d.Mode != nil {
		if err := os.Chmod(place, fs.FileMode(*d.Mode&0o777)); err != nil {
			return err
		}
	}
	return i.own(d.Path, d.User, d.Group)
}

func (i *Installer) applyFile(f types.File) error {
	mode := fs.FileMode(defaultFileMode)
	if f.Mode != nil {
		mode = fs.FileMode(*f.Mode & 0o777)
	}
	content, err := contents(f.Contents)
	if err != nil {
		return err
	}
	if f.Contents.Source == nil {
		// A file that is only added to, or only made to exist, keeps what it has.
		content, err = os.ReadFile(i.Root.Path(f.Path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, more := range f.Append {
		added, err := contents(more)
		if err != nil {
			return err
		}
		if !bytes.Contains(content, added) {
			content = append(content, added...)
		}
	}
	if err := i.writeFile(f.Path, content, mode); err != nil {
		return err
	}
	return i.own(f.Path, f.User, f.Group)
}

// contents unpacks what a config carries in itself.
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
	if r.Compression == nil || *r.Compression == "" {
		return data.Data, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data.Data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

func (i *Installer) applyLink(l types.Link) error {
	if l.Target == nil {
		return errors.New("require a target, found none")
	}
	place := i.Root.Path(l.Path)
	if err := os.MkdirAll(path.Dir(place), defaultDirMode); err != nil {
		return err
	}
	if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if l.Hard != nil && *l.Hard {
		return os.Link(i.Root.Path(*l.Target), place)
	}
	return os.Symlink(*l.Target, place)
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
