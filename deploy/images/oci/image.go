package oci

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// User is the user and the group of all processes of the images, by number: Kubernetes checks runAsNonRoot with numbers only.
const User = 65532

// DataFolder is the folder in which the service keeps everything; a volume.
const DataFolder = "/var/lib/slipway"

// Image describes one of the images.
type Image struct {
	Name, Title, Description string
	// Database: the image has PostgreSQL. Its processes then run the whole service unless a command is named.
	Database bool
	Ports    []int
}

// Images are all images.
var Images = []Image{
	{
		Name: "slipway", Title: "Slipway", Database: true, Ports: []int{8090},
		Description: "Installs OpenShift on bare metal: the whole service, with PostgreSQL and Temporal",
	},
	{
		Name: "slipway-replica", Title: "Slipway replica", Ports: []int{8090, 8091, 8092},
		Description: "API, worker or image service of Slipway, for a PostgreSQL and a Temporal of your own",
	},
}

// command returns the arguments of an image that is started without.
func (i Image) command() []string {
	if i.Database {
		return []string{"up"}
	}
	return []string{"--help"}
}

// certificates is the file in which programs look for the authorities that Debian trusts; its package makes it when it is installed.
const certificates = "etc/ssl/certs/ca-certificates.crt"

// configure adds what installed packages would have made, and the user of the service.
func (t tree) configure() error {
	var authorities bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if !strings.HasPrefix(name, "usr/share/ca-certificates/") || path.Ext(name) != ".crt" {
			continue
		}
		from, err := t[name].open()
		if err != nil {
			return err
		}
		_, err = authorities.ReadFrom(from)
		_ = from.Close()
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		authorities.WriteByte('\n')
	}
	if authorities.Len() == 0 {
		return fmt.Errorf("require certificates of authorities below usr/share/ca-certificates, found none")
	}
	t.file(certificates, 0o644, authorities.Bytes())
	for _, name := range merged {
		if _, found := t["usr/"+name]; found {
			t.link(name, "usr/"+name)
		}
	}
	t.file("etc/passwd", 0o644, fmt.Appendf(nil, "root:x:0:0:root:/root:/usr/sbin/nologin\n"+
		"slipway:x:%d:%[1]d:Slipway:%s:/usr/sbin/nologin\n", User, DataFolder))
	t.file("etc/group", 0o644, fmt.Appendf(nil, "root:x:0:\nslipway:x:%d:\n", User))
	t.file("etc/nsswitch.conf", 0o644, []byte("passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"))
	t.folder("tmp", 0o1777, 0)
	t.folder(DataFolder[1:], 0o700, User)
	return nil
}

// programs adds Slipway's own files: the service for an architecture, and the programs for hosts and new clusters of all of them.
func (t tree) programs(image Image, service, folder string) error {
	if err := t.program("usr/bin/slipway", service); err != nil {
		return err
	}
	if !image.Database {
		if err := t.requireStatic("usr/bin/slipway", image.Name); err != nil {
			return err
		}
	}
	for _, kind := range []string{"slipway-agent-", "slipway-controller-"} {
		for _, architecture := range []string{"amd64", "arm64", "ppc64le", "s390x"} {
			name := kind + architecture
			if err := t.program(forHosts+"/"+name, filepath.Join(folder, name)); err != nil {
				return err
			}
		}
	}
	if image.Database {
		// A file that is mounted there replaces it.
		t.file("etc/slipway/slipway.yaml", 0o644, []byte("listen: 0.0.0.0:8090\n"))
	} else {
		t.folder("etc/slipway", 0o755, 0)
	}
	return nil
}
