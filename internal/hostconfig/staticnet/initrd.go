package staticnet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cavaliergopher/cpio"

	"slipway/internal/model"
)

// unitPath runs the script in the initramfs before NetworkManager, from where CoreOS copies the connections to
// the system that it starts. Hooks of dracut would be too late: NetworkManager is a service of its own there.
const (
	unitPath  = "/etc/systemd/system/slipway-static-network.service"
	unitWants = "/etc/systemd/system/initrd.target.wants/slipway-static-network.service"
)

//go:embed initramfs.service
var unit string

// rootfsProxyPath makes the service that fetches the rest of a minimal image use a proxy.
const rootfsProxyPath = "/etc/systemd/system/coreos-livepxe-rootfs.service.d/10-slipway-proxy.conf"

// maxInitrd is the room that a minimal image has for the archive, in bytes
// (docs/reference/images.md, "Room for static networks").
const maxInitrd = 1 << 20

// MinimalInitrd returns the files that an image needs before it can fetch its root file system: network settings, which wait longer by
// delay for interfaces, and a proxy, as a gzip'ed cpio archive (newc). It is nil when nothing is needed, and a model.ErrConflict when
// the archive exceeds the room in an image.
func MinimalInitrd(hosts []Host, proxy model.Proxy, how Method, delay time.Duration) ([]byte, error) {
	files, err := initramfsFiles(hosts, how, delay)
	if err != nil {
		return nil, err
	}
	if text := rootfsProxy(proxy); text != "" {
		files = append(files, File{rootfsProxyPath, 0o644, []byte(text)})
	}
	if len(files) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := archive(packed, files); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, fmt.Errorf("pack the initramfs: %w", err)
	}
	if out.Len() > maxInitrd {
		return nil, model.Conflictf(
			"network settings cannot be put into an image: require at most %d bytes packed, found %d",
			maxInitrd,
			out.Len(),
		)
	}
	return out.Bytes(), nil
}

// initramfsFiles makes the settings with the script that applies them.
func initramfsFiles(hosts []Host, how Method, delay time.Duration) ([]File, error) {
	files, err := Files(hosts, how)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	files = append(files, Scripts(how)...)
	service := strings.ReplaceAll(unit, "{command}", "/bin/sh "+Command(initramfsConnections, delay))
	return append(files, File{unitPath, 0o644, []byte(service)}, File{unitWants, symlink, []byte(unitPath)}), nil
}

// symlink is the mode of a link to its content.
const symlink = int(cpio.TypeSymlink) | 0o777

// archive writes files after the folders they are in, which the kernel does not make itself.
func archive(to *gzip.Writer, files []File) error {
	writer := cpio.NewWriter(to)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	made := map[string]bool{}
	for _, f := range files {
		for _, folder := range folders(f.Path) {
			if made[folder] {
				continue
			}
			made[folder] = true
			if err := writer.WriteHeader(&cpio.Header{Name: folder, Mode: cpio.TypeDir | 0o755, Links: 2}); err != nil {
				return fmt.Errorf("pack folder %s: %w", folder, err)
			}
		}
		header := &cpio.Header{
			Name:  strings.TrimPrefix(f.Path, "/"),
			Mode:  cpio.FileMode(f.Mode),
			Size:  int64(len(f.Content)),
			Links: 1,
		} //nolint:gosec // sixteen bits
		if f.Mode&int(cpio.TypeSymlink) == 0 {
			header.Mode |= cpio.TypeReg
		}
		if err := writer.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", f.Path, err)
		}
		if _, err := writer.Write(f.Content); err != nil {
			return fmt.Errorf("pack %s: %w", f.Path, err)
		}
	}
	return writer.Close()
}

// folders returns the parent folders of a file, the outermost first, without a leading slash.
func folders(file string) []string {
	var out []string
	for at := path.Dir(file); at != "/"; at = path.Dir(at) {
		out = append(out, strings.TrimPrefix(at, "/"))
	}
	slices.Reverse(out)
	return out
}

// rootfsProxy makes the drop-in of a unit (systemd.exec(5), Environment=).
func rootfsProxy(p model.Proxy) string {
	var out strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%")
	for _, v := range [][2]string{{"http_proxy", p.HTTP}, {"https_proxy", p.HTTPS}, {"no_proxy", p.ExceptionList()}} {
		if v[1] != "" {
			fmt.Fprintf(&out, "Environment=\"%s=%s\"\n", v[0], escape.Replace(v[1]))
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "[Service]\n" + out.String()
}
