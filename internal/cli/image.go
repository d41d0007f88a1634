package cli

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// ImageCommands are the commands below "image": discovery images. They print nothing for machines.
type ImageCommands struct {
	Service

	Download imageDownload `cmd:"" help:"Download the discovery image of an InfraEnv; an interrupted download is resumed."`
}

type imageDownload struct {
	infraEnvArgument
	File      string        `short:"f" type:"path" help:"File to write; '-' is standard output. By default NAME-TYPE.iso in this folder." placeholder:"FILE"`
	Type      string        `enum:",full,minimal,disconnected" default:"" help:"Which image: full, minimal or disconnected; by default the type of the InfraEnv." placeholder:"TYPE"`
	Overwrite bool          `help:"Replace an existing file."`
	Timeout   time.Duration `default:"1h" help:"How long to wait for a service that is busy, or does not have the operating system yet."`
	Stall     time.Duration `default:"1m" help:"How long a connection may be silent before it is replaced."`
	Output    string        `short:"o" hidden:""`
}

// Run downloads an image.
func (k *imageDownload) Run(ctx context.Context, at *ImageCommands, t *Terminal) error {
	if k.Output != "" {
		return usagef("-o is an output format, and an image has none: name its file with -f, found -o %s", k.Output)
	}
	if k.File == "-" && t.Interactive {
		return usagef("require -f FILE, or a pipe: standard output is a terminal")
	}
	c := at.Client()
	env, err := k.find(ctx, c)
	if err != nil {
		return err
	}
	source := &imageSource{client: c, env: env, kind: k.Type, service: at.URL}
	if err := source.locate(ctx); err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(source.address.Hostname()); err == nil && ip.IsLoopback() {
		t.note("hosts that boot this image do not reach the service at %s: start it with --listen ADDRESS:PORT or --base-url, "+
			"and download the image again", source.at())
	}
	d := &download{
		from: source, what: source.fileKind() + " image of " + env.Name, timeout: k.Timeout, stall: k.Stall,
		progress: &progress{terminal: t},
	}
	if k.File == "-" {
		d.to, d.progress.name = stdout{t.Out}, "standard output"
		return d.run(ctx)
	}
	return k.toFile(ctx, d, t)
}

// toFile downloads beside the file and renames the result when it is complete.
func (k *imageDownload) toFile(ctx context.Context, d *download, t *Terminal) error {
	file := k.File
	if file == "" {
		file = imageFileName(d.from)
	}
	if err := k.free(file); err != nil {
		return err
	}
	p, err := openPart(file, d.from.name())
	if err != nil {
		return err
	}
	defer p.Close()
	d.to, d.progress.name = p, filepath.Base(file)
	if p.foreign {
		d.progress.says("%s: the existing part belongs to another image: starting again", d.progress.name)
	}
	if err := d.run(ctx); err != nil {
		return p.kept(err)
	}
	if err := k.free(file); err != nil { // another process may have made it in the meantime
		return p.kept(err)
	}
	if err := p.finish(file); err != nil {
		return err
	}
	t.printf("%s: %s\n", d.what, file)
	if end := imageEnd(ctx, d.from.client, d.from.env.ID); end != "" {
		t.note("machines register with it until %s", end)
	}
	return nil
}

// free returns why a file cannot be written.
func (k *imageDownload) free(file string) error {
	found, err := os.Stat(file)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for the file: %w", err)
	case !found.Mode().IsRegular():
		return usagef("require the name of a regular file, found %s: %s", kindOf(found.Mode()), file)
	case !k.Overwrite:
		return usagef("%s exists already: --overwrite replaces it", file)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeDevice != 0:
		return "a device ('-f -' writes to a pipe)"
	}
	return "a special file"
}

// imageSource is the source of one image of an InfraEnv.
type imageSource struct {
	client  *client.Client
	env     *wire.InfraEnv
	kind    string // full, minimal or disconnected; empty: the InfraEnv's
	service string // its address, for errors
	address *url.URL
}

// locate makes an address. It contains a token, valid for some hours, if the service authenticates users.
func (s *imageSource) locate(ctx context.Context) error {
	made, err := s.client.ImageURL(ctx, s.env.ID)
	if err != nil {
		return failed(s.service, "make an address for the image of "+s.env.Name, err)
	}
	address, err := url.Parse(made.URL)
	if err != nil || address.Host == "" || !strings.HasSuffix(address.Path, ".iso") {
		return fmt.Errorf(
			"make an address for the image of %s: the service did not return the address of an .iso file",
			s.env.Name,
		)
	}
	if s.kind != "" {
		address = address.JoinPath("..", s.kind+".iso")
	}
	s.address = address
	return nil
}

// open requests the image from a byte on. A service that does not answer is named.
func (s *imageSource) open(ctx context.Context, from int64, etag string) (*client.Image, error) {
	return s.client.Image(ctx, client.ImageRange{Address: s.address.String(), From: from, ETag: etag})
}

// fileKind returns full, minimal or disconnected.
func (s *imageSource) fileKind() string { return strings.TrimSuffix(path.Base(s.address.Path), ".iso") }

// name describes which image of which InfraEnv it is, without the token of the address:
// .../TOKEN/VERSION/ARCHITECTURE/full.iso.
func (s *imageSource) name() string {
	parts := strings.Split(s.address.Path, "/")
	return strings.Join(append([]string{s.env.ID.String()}, parts[max(0, len(parts)-3):]...), "/")
}

// at returns the root of the service that serves the image.
func (s *imageSource) at() string { return s.address.Scheme + "://" + s.address.Host }

// imageFileName returns the name of the file that is written unless the user names one.
func imageFileName(s *imageSource) string {
	name := s.env.Name
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		name = s.env.ID.String()
	}
	return name + "-" + s.fileKind() + ".iso"
}
