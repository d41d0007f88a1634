package imageservice

import (
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/download"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// typeISO is the media type of ISOs (openshift/assisted-image-service, internal/handlers/iso.go).
const typeISO = "application/x-cd-image"

// Names of artifacts in metrics; ISOs have the names of their types.
const (
	artifactInitrd   = "pxe-initrd"
	artifactAddrSize = "s390x-initrd-addrsize"
)

// iso answers with an ISO of an InfraEnv.
func (s *service) iso(w http.ResponseWriter, r *http.Request, req *request) error {
	made, system, err := s.imageOf(r, req, req.imageType)
	if err != nil {
		return err
	}
	return s.send(w, r, req, system, download.Content{
		Layout: made.layout, ETag: made.etag, Modified: made.modified, Type: typeISO,
		Disposition: httpapi.Attachment(req.infraEnvID.String() + "-discovery.iso"),
	})
}

// initrd answers with the initramfs of machines that boot over the network.
func (s *service) initrd(w http.ResponseWriter, r *http.Request, req *request) error {
	made, system, err := s.imageOf(r, req, artifactInitrd)
	if err != nil {
		return err
	}
	return s.send(w, r, req, system, download.Content{
		Layout: made.layout, ETag: made.etag, Modified: made.modified, Disposition: httpapi.Attachment("initrd.img"),
	})
}

// addrSize answers with the load address and the length of the initramfs, for firmware of s390x.
func (s *service) addrSize(w http.ResponseWriter, r *http.Request, req *request) error {
	made, system, err := s.imageOf(r, req, artifactInitrd)
	req.artifact = artifactAddrSize
	if err != nil {
		return err
	}
	file, err := system.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := system.Base.AddrSize(file, made.layout.Size())
	if err != nil {
		return err
	}
	l := layout.Of(layout.Bytes(content))
	return s.send(w, r, req, system, download.Content{
		Layout: l, ETag: imageTag(system.ID, l), Modified: made.modified, Disposition: httpapi.Attachment("initrd.addrsize"),
	})
}

// bootArtifacts are parts of the operating system; they contain no secrets.
var bootArtifacts = map[string]struct {
	name   string // of the file
	layout func(*liveisos.Image) (*layout.Layout, error)
}{
	"rootfs":   {"rootfs.img", func(i *liveisos.Image) (*layout.Layout, error) { return i.Base.Rootfs() }},
	"kernel":   {"vmlinuz", func(i *liveisos.Image) (*layout.Layout, error) { return i.Base.Kernel() }},
	"ins-file": {"generic.ins", func(i *liveisos.Image) (*layout.Layout, error) { return i.Base.InsFile() }},
}

// bootArtifact answers with a part of the operating system, without a credential.
func (s *service) bootArtifact(w http.ResponseWriter, r *http.Request, req *request) error {
	name := chi.URLParam(r, "artifact")
	artifact, known := bootArtifacts[name]
	if !known {
		return model.NotFoundf("require one of the boot artifacts rootfs, kernel and ins-file, found %q", name)
	}
	req.artifact = name
	system, err := s.system(r, req, s.Images.Present)
	if err != nil {
		return err
	}
	l, err := artifact.layout(system)
	if err != nil {
		return err
	}
	return s.send(w, r, req, system, download.Content{
		Layout: l, ETag: imageTag(system.ID, l), Modified: system.Modified, Disposition: httpapi.Attachment(artifact.name), Public: true,
	})
}

// system finds the operating system by one of the methods of liveisos.Store. At the limit of bodies it refuses before it looks anything
// up, because refused clients retry often.
func (s *service) system(
	r *http.Request, req *request, find func(version, architecture, imageType string) (*liveisos.Image, error),
) (*liveisos.Image, error) {
	if err := s.busy(r, req); err != nil {
		return nil, err
	}
	kind := ""
	if req.imageType == string(wire.ImageTypeDisconnectedIso) {
		kind = openshift.TypeDisconnectedISO
	}
	return find(req.version, req.arch, kind)
}

// busy returns an error for a request that asks for a body while as many are sent as may be at once.
func (s *service) busy(r *http.Request, req *request) error {
	conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
	if r.Method != http.MethodGet || conditional {
		return nil
	}
	return s.sender.Busy(ownerOf(r, req))
}

// ownerOf names who a body counts for: an InfraEnv, or, of files that need no credential, the address of the client.
func ownerOf(r *http.Request, req *request) string {
	if req.infraEnvID != uuid.Nil {
		return req.infraEnvID.String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// imageOf returns the image of an InfraEnv, made now or kept from an earlier request. It requests the configuration
// from the API each time, which checks the credential and reports whether anything changed.
func (s *service) imageOf(r *http.Request, req *request, artifact string) (*builtImage, *liveisos.Image, error) {
	req.artifact = artifact
	if err := s.busy(r, req); err != nil {
		return nil, nil, err
	}
	entry, err := s.configs.get(r, req, artifact)
	if err != nil {
		return nil, nil, err
	}
	// After the credential: an image that is not here is downloaded for whoever asks for it.
	system, err := s.system(r, req, s.Images.Find)
	if err != nil {
		return nil, nil, err
	}
	made, err := entry.image(system, func(c *imageConfig) (*builtImage, error) {
		return s.builder.build(r.Context(), system, buildOrder{artifact: artifact, version: req.version, config: c})
	})
	return made, system, err
}

// send answers with a file made from the live ISO of a system.
func (s *service) send(w http.ResponseWriter, r *http.Request, req *request, system *liveisos.Image, c download.Content) error {
	c.Open, c.Owner = system.Open, ownerOf(r, req)
	bodies := 0
	c.Begin = func(status int) {
		req.status = status
		if r.Method == http.MethodGet && status != http.StatusNotModified {
			bodies++
			s.Meter.ImageBegun(s.Now().Sub(req.begun))
		}
	}
	defer func() {
		for range bodies {
			s.Meter.ImageEnded()
		}
	}()
	return s.sender.Serve(w, r, c)
}
