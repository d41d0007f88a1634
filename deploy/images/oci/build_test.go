package oci_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"slipway/deploy/images/oci"
)

// program returns the smallest file that debug/elf reads as a program, a dynamic one where it names an interpreter (elf(5)).
func program(machine elf.Machine, interpreter string) string {
	const headerSize, partSize = 64, 56
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Ehsize: headerSize, Phentsize: partSize, Shentsize: 64,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	var out bytes.Buffer
	if interpreter != "" {
		header.Phoff, header.Phnum = headerSize, 1
	}
	_ = binary.Write(&out, binary.LittleEndian, header)
	if interpreter != "" {
		size := uint64(len(interpreter) + 1)
		_ = binary.Write(&out, binary.LittleEndian, elf.Prog64{
			Type: uint32(elf.PT_INTERP), Off: headerSize + partSize, Filesz: size, Memsz: size,
		})
		out.WriteString(interpreter + "\x00")
	}
	return out.String()
}

const loader = "/lib64/ld-linux-x86-64.so.2"

// files are the content of a package by its paths; a value that begins with "-> " is a link.
type files map[string]string

// mirror serves packages made by dpkg-deb.
type mirror struct {
	folder string
	lock   *oci.Lock
	server *httptest.Server
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("SKIP: this test needs dpkg-deb")
	}
	m := &mirror{folder: t.TempDir(), lock: &oci.Lock{Time: time.Date(2026, 11, 1, 2, 3, 4, 0, time.UTC)}}
	m.server = httptest.NewServer(http.FileServer(http.Dir(m.folder)))
	t.Cleanup(m.server.Close)
	return m
}

// add makes a package, and locks it.
func (m *mirror) add(t *testing.T, image, architecture, name string, content files) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o755))
	content["DEBIAN/control"] = fmt.Sprintf("Package: %s\nVersion: 1\nArchitecture: %s\nMaintainer: a <a@example.com>\nDescription: a\n",
		name, architecture)
	for path, text := range content {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, link := strings.CutPrefix(text, "-> "); link {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, 0o644))
	}
	file := name + "_" + architecture + ".deb"
	out, err := exec.Command("dpkg-deb", "--root-owner-group", "--build", root, filepath.Join(m.folder, file)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(m.folder, file))
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	m.lock.Packages = append(m.lock.Packages, oci.Package{
		Image: image, Architecture: architecture, Name: name, Version: "1", Archive: "debian", Path: file, SHA256: hex.EncodeToString(sum[:]),
	})
}

// debian serves what an image of amd64 needs: authorities and a C library in the folders of before the merge of /usr.
func debian(t *testing.T) *mirror {
	t.Helper()
	m := newMirror(t)
	m.add(t, "both", "all", "ca-certificates", files{
		"usr/share/ca-certificates/mozilla/B.crt": "second\n", "usr/share/ca-certificates/mozilla/A.crt": "first\n",
		"usr/sbin/update-ca-certificates": "#!/bin/sh\n", "usr/share/man/man8/a.gz": "", "usr/share/doc/ca-certificates/README": "",
		"usr/share/doc/ca-certificates/copyright": "free\n",
	})
	m.add(t, "both", "amd64", "libc6", files{
		"lib/x86_64-linux-gnu/libc.so.6": "no program", "lib64/ld-linux-x86-64.so.2": "-> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
		"lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": program(elf.EM_X86_64, ""),
	})
	m.add(t, "slipway", "amd64", "postgresql-15", files{
		"usr/lib/postgresql/15/bin/postgres": program(elf.EM_X86_64, loader), "usr/lib/postgresql/15/bin/pg_upgrade": "",
		"usr/lib/postgresql/15/lib/bitcode/postgres/a.bc": "", "usr/lib/postgresql/15/lib/llvmjit.so": "",
	})
	m.add(t, "slipway", "amd64", "dash", files{"bin/dash": program(elf.EM_X86_64, loader), "bin/sh": "-> dash"})
	return m
}

// options makes the inputs of an image of amd64, whose program slipway has the given content.
func (m *mirror) options(t *testing.T, service string) oci.Options {
	t.Helper()
	programs := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(programs, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	for _, architecture := range []string{"amd64", "arm64", "ppc64le", "s390x"} {
		write("slipway-agent-"+architecture, program(elf.EM_PPC64, ""))
		write("slipway-controller-"+architecture, "of "+architecture)
	}
	return oci.Options{
		Lock: m.lock, Programs: programs, Services: map[string]string{"amd64": write("slipway", service)},
		Cache: &oci.Cache{
			Folder: t.TempDir(), Mirrors: []string{m.server.URL + "/gone/{path}", m.server.URL + "/{path}"}, Client: m.server.Client(),
		},
		Version: "0.1.0+20261127.g1", Revision: "1a2b", Created: time.Date(2026, 11, 27, 15, 44, 40, 0, time.UTC),
		Architectures: []string{"amd64"},
	}
}

func image(t *testing.T, name string) oci.Image {
	t.Helper()
	at := slices.IndexFunc(oci.Images, func(i oci.Image) bool { return i.Name == name })
	require.NotEqual(t, -1, at)
	return oci.Images[at]
}

// open returns the images of a layout by their architectures, and the name of their index.
func open(t *testing.T, folder string) (all map[string]v1.Image, name string) {
	t.Helper()
	top, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	manifest, err := top.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	list, err := index.IndexManifest()
	require.NoError(t, err)
	all = map[string]v1.Image{}
	for _, m := range list.Manifests {
		one, err := index.Image(m.Digest)
		require.NoError(t, err)
		all[m.Platform.Architecture] = one
	}
	return all, manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"]
}

// list returns the lines of a layer's files: type, mode, owner and time, path, target.
func list(t *testing.T, layer v1.Layer) (lines []string, content map[string]string) {
	t.Helper()
	from, err := layer.Uncompressed()
	require.NoError(t, err)
	defer from.Close()
	content = map[string]string{}
	for in := tar.NewReader(from); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return lines, content
		}
		require.NoError(t, err)
		data, err := io.ReadAll(in)
		require.NoError(t, err)
		content[header.Name] = string(data)
		day := header.ModTime.UTC().Format("01-02")
		line := fmt.Sprintf("%c %o %d:%d %s %s", header.Typeflag, header.Mode, header.Uid, header.Gid, day, header.Name)
		if header.Linkname != "" {
			line += " -> " + header.Linkname
		}
		lines = append(lines, line)
	}
}

func TestImageHasTheFilesOfItsPackagesAndPrograms(t *testing.T) {
	t.Parallel()
	m := debian(t)
	folder := filepath.Join(t.TempDir(), "image")
	digest, err := oci.Build(t.Context(), image(t, "slipway"), m.options(t, program(elf.EM_X86_64, loader)), folder)
	require.NoError(t, err)
	images, name := open(t, folder)
	require.Equal(t, "localhost/slipway:0.1.0-20261127.g1", name)
	require.NotEmpty(t, digest.Hex)
	layers, err := images["amd64"].Layers()
	require.NoError(t, err)
	require.Len(t, layers, 2)

	lines, content := list(t, layers[0])
	require.Contains(t, lines, "2 777 0:0 11-01 bin -> usr/bin")
	require.Contains(t, lines, "2 777 0:0 11-01 usr/bin/sh -> dash")
	require.Contains(t, lines, "5 1777 0:0 11-01 tmp/")
	require.Contains(t, lines, "5 700 65532:65532 11-01 var/lib/slipway/")
	require.Contains(t, lines, "0 644 0:0 11-01 usr/lib/x86_64-linux-gnu/libc.so.6")
	require.Contains(t, lines, "2 777 0:0 11-01 usr/lib64/ld-linux-x86-64.so.2 -> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
	require.Contains(t, lines, "2 777 0:0 11-01 lib64 -> usr/lib64")
	require.Equal(t, "first\n\nsecond\n\n", content["etc/ssl/certs/ca-certificates.crt"])
	require.Contains(t, content["etc/passwd"], "\nslipway:x:65532:65532:Slipway:/var/lib/slipway:/usr/sbin/nologin\n")
	require.Contains(t, content["var/lib/dpkg/status.d/libc6"], "Package: libc6\nVersion: 1\n")
	require.Contains(t, content, "usr/share/doc/ca-certificates/copyright")
	require.Contains(t, content, "usr/lib/postgresql/15/bin/postgres")
	for name := range content {
		for _, never := range []string{"/man/", "README", "usr/sbin", "pg_upgrade", "bitcode", "llvmjit"} {
			require.NotContains(t, name, never)
		}
	}
	names := make([]string, len(lines))
	for i, line := range lines {
		names[i] = strings.TrimSuffix(strings.Fields(line)[4], "/")
	}
	require.True(t, slices.IsSorted(names), "%q", names)

	lines, content = list(t, layers[1])
	require.Contains(t, lines, "0 755 0:0 11-27 usr/bin/slipway")
	require.Contains(t, lines, "0 755 0:0 11-27 usr/lib/slipway/slipway-agent-s390x")
	require.Equal(t, "of arm64", content["usr/lib/slipway/slipway-controller-arm64"])
	require.Equal(t, "listen: 0.0.0.0:8090\n", content["etc/slipway/slipway.yaml"])

	config, err := images["amd64"].ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", config.Config.User)
	require.Equal(t, []string{"/usr/bin/slipway"}, config.Config.Entrypoint)
	require.Equal(t, []string{"up"}, config.Config.Cmd)
	require.Contains(t, config.Config.ExposedPorts, "8090/tcp")
	require.Contains(t, config.Config.Volumes, "/var/lib/slipway")
	require.Equal(t, "0.1.0+20261127.g1", config.Config.Labels["org.opencontainers.image.version"])
	require.Equal(t, "1a2b", config.Config.Labels["org.opencontainers.image.revision"])
	require.Equal(t, "2026-11-27T15:44:40Z", config.Config.Labels["org.opencontainers.image.created"])
	require.Equal(t, "2026-11-27T15:44:40Z", config.Created.UTC().Format(time.RFC3339))
}

func TestReplicaHasNoPostgreSQL(t *testing.T) {
	t.Parallel()
	m := debian(t)
	m.add(t, "both", "arm64", "libc6", files{"lib/aarch64-linux-gnu/libc.so.6": program(elf.EM_AARCH64, "")})
	o := m.options(t, program(elf.EM_X86_64, ""))
	arm := filepath.Join(o.Programs, "slipway-arm64")
	require.NoError(t, os.WriteFile(arm, []byte(program(elf.EM_AARCH64, "")), 0o600))
	o.Services["arm64"], o.Architectures = arm, []string{"amd64", "arm64"}
	folder := filepath.Join(t.TempDir(), "image")
	_, err := oci.Build(t.Context(), image(t, "slipway-replica"), o, folder)
	require.NoError(t, err)
	images, _ := open(t, folder)
	require.Len(t, images, 2)
	for architecture, one := range images {
		config, err := one.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, architecture, config.Architecture)
		layers, err := one.Layers()
		require.NoError(t, err)
		_, content := list(t, layers[0])
		require.NotContains(t, content, "usr/lib/postgresql/15/bin/postgres")
		require.Equal(t, architecture == "arm64", content["usr/lib/aarch64-linux-gnu/libc.so.6"] != "")
	}
}

func TestEqualInputsGiveEqualDigests(t *testing.T) {
	t.Parallel()
	m := debian(t)
	var digests, archives []string
	for range 2 {
		o := m.options(t, program(elf.EM_X86_64, "")) // in other folders, with files of other times
		folder := filepath.Join(t.TempDir(), "image")
		digest, err := oci.Build(t.Context(), image(t, "slipway"), o, folder)
		require.NoError(t, err)
		require.NoError(t, oci.Archive(folder, folder+".tar", o.Created))
		archive, err := os.ReadFile(folder + ".tar")
		require.NoError(t, err)
		digests, archives = append(digests, digest.String()), append(archives, fmt.Sprintf("%x", sha256.Sum256(archive)))
	}
	require.Equal(t, digests[0], digests[1])
	require.Equal(t, archives[0], archives[1])

	o := m.options(t, program(elf.EM_X86_64, "")+"x")
	other, err := oci.Build(t.Context(), image(t, "slipway"), o, filepath.Join(t.TempDir(), "image"))
	require.NoError(t, err)
	require.NotEqual(t, digests[0], other.String(), "another program")
}

func TestImagesThatCouldNotRunAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, image, service string
		change               func(*testing.T, *mirror, *oci.Options)
		refusal              string
	}{
		{
			"a replica with a dynamic program", "slipway-replica", program(elf.EM_X86_64, loader), nil,
			"usr/bin/slipway of slipway-replica: require a static program (CGO_ENABLED=0), found one that needs " + loader,
		},
		{
			"a program of another architecture", "slipway", program(elf.EM_AARCH64, ""), nil,
			"usr/bin/slipway: require a program for amd64, found one for EM_AARCH64",
		},
		{
			"a program whose interpreter no package has", "slipway", program(elf.EM_X86_64, "/lib/ld-musl-x86_64.so.1"), nil,
			"usr/bin/slipway needs ld-musl-x86_64.so.1, which no package of the image has",
		},
		{"a script instead of the program", "slipway-replica", "#!/bin/sh\n", nil, "require a program of Linux, found another file"},
		{
			"a package without its program of hosts", "slipway", program(elf.EM_X86_64, ""),
			func(t *testing.T, _ *mirror, o *oci.Options) {
				t.Helper()
				require.NoError(t, os.Remove(filepath.Join(o.Programs, "slipway-agent-s390x")))
			},
			"slipway-agent-s390x: no such file",
		},
		{
			"an architecture without packages", "slipway", program(elf.EM_X86_64, ""),
			func(_ *testing.T, _ *mirror, o *oci.Options) { o.Architectures = []string{"riscv64"} },
			"require an architecture of amd64, arm64 with its program slipway",
		},
		{
			"a mirror that serves another file", "slipway", program(elf.EM_X86_64, ""),
			func(t *testing.T, m *mirror, _ *oci.Options) {
				t.Helper()
				require.NoError(t, os.WriteFile(filepath.Join(m.folder, m.lock.Packages[0].Path), []byte("other"), 0o600))
			},
			"require the SHA-256 of packages.lock, found another",
		},
		{
			"a version that all mirrors have dropped", "slipway", program(elf.EM_X86_64, ""),
			func(t *testing.T, m *mirror, _ *oci.Options) {
				t.Helper()
				require.NoError(t, os.Remove(filepath.Join(m.folder, m.lock.Packages[0].Path)))
			},
			"404 Not Found; where no mirror has the version any more, make images-lock takes the current ones",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := debian(t)
			o := m.options(t, test.service)
			if test.change != nil {
				test.change(t, m, &o)
			}
			_, err := oci.Build(t.Context(), image(t, test.image), o, filepath.Join(t.TempDir(), "image"))
			require.ErrorContains(t, err, test.refusal)
		})
	}
}

func TestLibrariesOfProgramsAreLookedFor(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIP: this test needs a program of amd64")
	}
	system, err := os.ReadFile("/bin/true") // linked with the C library
	require.NoError(t, err)
	m := debian(t)
	o := m.options(t, string(system))
	_, err = oci.Build(t.Context(), image(t, "slipway"), o, filepath.Join(t.TempDir(), "image"))
	require.NoError(t, err, "libc6 has its library and its interpreter")
	m.lock.Packages = slices.DeleteFunc(m.lock.Packages, func(p oci.Package) bool { return p.Name == "libc6" })
	_, err = oci.Build(t.Context(), image(t, "slipway"), o, filepath.Join(t.TempDir(), "image"))
	require.ErrorContains(t, err, "usr/bin/slipway needs libc.so.6, which no package of the image has")
}
