// Package imageurl makes the addresses of the files that the image service serves for an InfraEnv, and the iPXE script
// that boots machines from them (docs/reference/images.md, "Addresses").
package imageurl

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// Options holds the parts of addresses; all but ImageServiceURL are required.
type Options struct {
	// Identity provides the credential that opens the files of an InfraEnv.
	Identity interface {
		ImageLink(e *model.InfraEnv, until time.Time) (auth.ImageLink, error)
	}
	// Releases hold the default version of an InfraEnv without one.
	Releases *openshift.Catalogue
	// BaseURL is the address of the API, without /api: "http://192.0.2.1:8090".
	BaseURL string
	// ImageServiceURL is the address of the image service; empty: BaseURL.
	ImageServiceURL string
	// BootURL is the address of the API for iPXE, which trusts public authorities only; empty: BaseURL.
	BootURL string
}

// Maker makes addresses of images.
type Maker struct {
	options Options
	images  string // the address of the image service, without a trailing slash
	// script and boot are the addresses of API and image service in iPXE scripts.
	script, boot string
}

// New returns a Maker.
func New(o Options) *Maker {
	trim := func(address string) string { return strings.TrimSuffix(address, "/") }
	script := cmp.Or(o.BootURL, o.BaseURL)
	return &Maker{
		options: o, images: trim(cmp.Or(o.ImageServiceURL, o.BaseURL)), script: trim(script), boot: trim(cmp.Or(o.ImageServiceURL, script)),
	}
}

// Version returns the OpenShift version whose operating system the images of an InfraEnv contain.
func (m *Maker) Version(e *model.InfraEnv) string {
	if e.OpenShiftVersion != "" {
		return e.OpenShiftVersion
	}
	if release, err := m.options.Releases.Find(""); err == nil {
		return release.Version
	}
	return ""
}

// ISO returns the address of the discovery image of an InfraEnv, and when it stops to work; a zero time is never.
func (m *Maker) ISO(e *model.InfraEnv) (string, time.Time, error) {
	link, err := m.options.Identity.ImageLink(e, time.Time{})
	if err != nil {
		return "", time.Time{}, err
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s.iso", m.images, link.Kind, url.PathEscape(link.Value), m.Version(e),
		e.CPUArchitecture, strings.TrimSuffix(e.ImageType, "-iso")), link.ExpiresAt, nil
}

// BootArtifacts returns the addresses of the kernel, initramfs and root file system of an InfraEnv's discovery image.
func (m *Maker) BootArtifacts(e *model.InfraEnv) (duesteps.BootArtifacts, error) {
	link, err := m.options.Identity.ImageLink(e, time.Time{})
	if err != nil {
		return duesteps.BootArtifacts{}, err
	}
	return duesteps.BootArtifacts{
		KernelURL: m.artifact(m.images, "kernel", e),
		InitrdURL: m.initrd(m.images, e, link),
		RootfsURL: m.artifact(m.images, "rootfs", e),
	}, nil
}

// artifact returns the address of a part of the operating system, which needs no credential.
func (m *Maker) artifact(base, name string, e *model.InfraEnv) string {
	return base + "/boot-artifacts/" + name + "?" + m.system(e, url.Values{}).Encode()
}

// initrd returns the address of the initramfs, which contains the configuration of the InfraEnv.
func (m *Maker) initrd(base string, e *model.InfraEnv, link auth.ImageLink) string {
	return base + "/images/" + e.ID.String() + "/pxe-initrd?" + m.system(e, link.Query()).Encode()
}

// system adds the operating system of an InfraEnv to a query.
func (m *Maker) system(e *model.InfraEnv, query url.Values) url.Values {
	query.Set("arch", e.CPUArchitecture)
	query.Set("version", m.Version(e))
	return query
}
