// Package starter makes the bootstrap config of a bench cluster out of what the stand-in
// of openshift-install made of an install-config.
package starter

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"slipway/internal/sim/payload/pki"
	"slipway/internal/sim/payload/standin"
	"slipway/test/bench/payload/bootkube"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/plan"
)

// Settings of the bench.
type Settings struct {
	// Archives hold the programs of the hosts.
	Archives []plan.Archive `json:"archives"`
	// Version of the release; empty: that in the tag of its image.
	Version string `json:"version"`
	// Images are programs that run as containers, by image reference or its last part;
	// empty: the images of the release.
	Images map[string]string `json:"images"`
}

// defaultImages run what their command says: the images of the release, by the repository that all of them are in.
// The controller runs in one of them.
var defaultImages = map[string]string{"ocp-v4.0-art-dev": "/bin/bash"}

// Config makes the bootstrap config.
func Config(c standin.Cluster, s Settings, now time.Time) ([]byte, error) {
	p, err := planOf(c, s)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(c, now)
	if err != nil {
		return nil, err
	}
	return configs.Bootstrap(p, keys, c.Files, c.SSHKey)
}

func planOf(c standin.Cluster, s Settings) (*plan.Cluster, error) {
	p := &plan.Cluster{
		Name: c.Name, Domain: c.Domain, Version: s.Version, Release: c.Release, ClusterID: c.ClusterID, InPlace: c.InPlace,
		ControlPlane: c.ControlPlane, Workers: c.Workers, Masters: c.Masters, Archives: s.Archives, Images: s.Images,
	}
	if p.Version == "" {
		p.Version = versionOf(c.Release)
	}
	if len(p.Images) == 0 {
		p.Images = defaultImages
	}
	var errs []error
	networks := func(list []string) (all []netip.Prefix) {
		for _, text := range list {
			n, err := netip.ParsePrefix(text)
			all, errs = append(all, n), append(errs, err)
		}
		return all
	}
	addresses := func(list []string) (all []netip.Addr) {
		for _, text := range list {
			a, err := netip.ParseAddr(text)
			all, errs = append(all, a), append(errs, err)
		}
		return all
	}
	p.MachineNetworks, p.ServiceNetworks, p.ClusterNetworks = networks(
		c.MachineNetworks,
	), networks(
		c.ServiceNetworks,
	), networks(
		c.ClusterNetworks,
	)
	p.APIVIPs, p.IngressVIPs = addresses(c.APIVIPs), addresses(c.IngressVIPs)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("read the networks of the cluster: %w", err)
	}
	return p, nil
}

// versionOf reads the tag of a release image, 4.20.33-x86_64.
func versionOf(release string) string {
	_, tag, _ := strings.Cut(release[strings.LastIndex(release, "/")+1:], ":")
	version, _, _ := strings.Cut(tag, "-")
	if version == "" || strings.Contains(release, "@") {
		return "0.0.0-bench"
	}
	return version
}

// keysOf maps the names of files to the cluster's keys.
func keysOf(c standin.Cluster, now time.Time) (map[string][]byte, error) {
	pairs := map[string]pki.Pair{
		pki.Root: c.Root, pki.APISigner: c.APISigner, pki.AdminSigner: c.AdminSigner,
		pki.Admin: c.Admin, pki.ConfigServer: c.MCS,
	}
	for _, name := range []string{pki.EtcdSigner, pki.RouterSigner} {
		made, err := pki.Authority("bench-"+name, now)
		if err != nil {
			return nil, err
		}
		pairs[name] = made
	}
	// Real bootstrappers show a token of the account; a certificate of the same name needs
	// no API to be made, and asks for the same certificates.
	bootstrapper, err := pairs[pki.Root].Issue(
		pki.Subject{Name: bootkube.BootstrapperUser, Groups: []string{"system:serviceaccounts"}},
		now,
	)
	if err != nil {
		return nil, err
	}
	pairs[pki.Bootstrapper] = bootstrapper
	files := map[string][]byte{}
	for name, pair := range pairs {
		files[name+".crt"], files[name+".key"] = pair.Cert, pair.Key
	}
	files["clients.crt"] = slices.Concat(c.AdminSigner.Cert, c.Root.Cert)
	files[pki.Accounts+".key"], files[pki.Accounts+".pub"], err = pki.Key()
	return files, err
}
