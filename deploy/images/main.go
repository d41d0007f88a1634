// Program images builds the container images of Slipway from the programs of a build, and prints their digests (make images).
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"slipway/deploy/images/oci"
)

// settings are the flags.
type settings struct {
	out, lock, cache, mirrors, programs, architectures, version, revision string
	created                                                               int64
}

func main() {
	var s settings
	flag.StringVar(&s.out, "out", "dist/images", "folder of the images")
	flag.StringVar(&s.lock, "lock", "deploy/images/packages.lock", "file with the packages of Debian")
	flag.StringVar(&s.cache, "cache", "", "folder that keeps packages")
	flag.StringVar(&s.mirrors, "mirrors", strings.Join(oci.Mirrors, " "), "addresses of Debian's archives, separated by spaces")
	flag.StringVar(&s.programs, "programs", "bin", "folder of the programs")
	flag.StringVar(&s.architectures, "architectures", "amd64 arm64", "architectures of the images, separated by spaces")
	flag.StringVar(&s.version, "version", "", "build id of slipway")
	flag.StringVar(&s.revision, "revision", "", "commit")
	flag.Int64Var(&s.created, "created", 0, "time of the commit, in seconds since 1970")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// run builds the images with the given names, or all.
func (s settings) run(ctx context.Context, names []string) error {
	file, err := os.Open(s.lock)
	if err != nil {
		return fmt.Errorf("read packages: %w", err)
	}
	defer file.Close()
	lock, err := oci.ReadLock(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.lock, err)
	}
	o := oci.Options{
		Lock: lock, Cache: &oci.Cache{Folder: s.cache, Mirrors: strings.Fields(s.mirrors), Client: http.DefaultClient},
		Services: map[string]string{}, Programs: s.programs, Version: s.version, Revision: s.revision,
		Created: time.Unix(s.created, 0).UTC(), Architectures: strings.Fields(s.architectures),
	}
	for _, architecture := range o.Architectures {
		o.Services[architecture] = filepath.Join(s.programs, "slipway-"+architecture)
	}
	for _, image := range oci.Images {
		if len(names) > 0 && !slices.Contains(names, image.Name) {
			continue
		}
		folder := filepath.Join(s.out, image.Name)
		digest, err := oci.Build(ctx, image, o, folder)
		if err != nil {
			return err
		}
		if err := oci.Archive(folder, folder+".oci.tar", o.Created); err != nil {
			return err
		}
		fmt.Printf("%s  %s:%s\n", digest, image.Name, o.Tag())
	}
	return nil
}
