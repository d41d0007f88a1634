package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"slipway/internal/cluster/openshift"
	sending "slipway/internal/images/download"
	"slipway/internal/images/osimages"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// artifacts, by the names that are counted; ISOs have the names of their types.
const (
	artifactInitrd   = "pxe-initrd"
	artifactAddrSize = "s390x-initrd-addrsize"
)

// iso answers with an ISO of an environment.
func (s *images) iso(w http.ResponseWriter, r *http.Request, ask *imageRequest) error {
	made, system, err := s.imageOf(r, ask, ask.imageType)
	if err != nil {
		return err
	}
	name := ask.imageType[:len(ask.imageType)-len("-iso")] + ".iso"
	return s.send(w, r, ask, system, sending.Content{Layout: made.layout, ETag: made.etag, Modified: made.modified, Name: name})
}

// initrd answers with the initramfs of machines that boot over the network.
func (s *images) initrd(w http.ResponseWriter, r *http.Request, ask *imageRequest) error {
	made, system, err := s.imageOf(r, ask, artifactInitrd)
	if err != nil {
		return err
	}
	return s.send(w, r, ask, system, sending.Content{Layout: made.layout, ETag: made.etag, Modified: made.modified, Name: "initrd.img"})
}

// addrSize tells firmware of s390x where the initramfs goes, and how long it is.
func (s *images) addrSize(w http.ResponseWriter, r *http.Request, ask *imageRequest) error {
	made, system, err := s.imageOf(r, ask, artifactInitrd)
	ask.artifact = artifactAddrSize
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
	return s.send(w, r, ask, system, sending.Content{Layout: l, ETag: imageTag(system.ID, l), Modified: made.modified, Name: "initrd.addrsize"})
}

// bootArtifacts are the parts of the operating system itself, which have no secrets.
var bootArtifacts = map[string]struct {
	name   string // of the file
	layout func(*osimages.Image) (*layout.Layout, error)
}{
	"rootfs":   {"rootfs.img", func(i *osimages.Image) (*layout.Layout, error) { return i.Base.Rootfs() }},
	"kernel":   {"vmlinuz", func(i *osimages.Image) (*layout.Layout, error) { return i.Base.Kernel() }},
	"ins-file": {"generic.ins", func(i *osimages.Image) (*layout.Layout, error) { return i.Base.InsFile() }},
}

// bootArtifact answers with a part of the operating system, for everybody.
func (s *images) bootArtifact(w http.ResponseWriter, r *http.Request, ask *imageRequest) error {
	name := chi.URLParam(r, "artifact")
	artifact, known := bootArtifacts[name]
	if !known {
		return model.NotFoundf("require one of the boot artifacts rootfs, kernel and ins-file, found %q", name)
	}
	ask.artifact = name
	system, err := s.system(r, ask)
	if err != nil {
		return err
	}
	l, err := artifact.layout(system)
	if err != nil {
		return err
	}
	return s.send(w, r, ask, system, sending.Content{Layout: l, ETag: imageTag(system.ID, l), Modified: system.Modified, Name: artifact.name, Public: true})
}

// system finds the operating system. When no more can be sent it says so before anything
// is looked up: those who wait in line come again often.
func (s *images) system(r *http.Request, ask *imageRequest) (*osimages.Image, error) {
	conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
	if r.Method == http.MethodGet && !conditional && s.sender.Full() {
		return nil, sending.ErrBusy
	}
	kind := ""
	if ask.imageType == string(wire.ImageTypeDisconnectedIso) {
		kind = openshift.TypeDisconnectedISO
	}
	return s.Images.Find(ask.version, ask.arch, kind)
}

// imageOf makes an image of an environment, or finds it as it was made before: the API is
// asked every time whether the caller may have it and whether anything changed.
func (s *images) imageOf(r *http.Request, ask *imageRequest, artifact string) (*builtImage, *osimages.Image, error) {
	ask.artifact = artifact
	system, err := s.system(r, ask)
	if err != nil {
		return nil, nil, err
	}
	entry, err := s.configs.get(r, ask, artifact)
	if err != nil {
		return nil, nil, err
	}
	made, err := entry.image(system, func(c *imageConfig) (*builtImage, error) {
		return s.builder.build(r.Context(), system, buildOrder{artifact: artifact, version: ask.version, config: c})
	})
	return made, system, err
}

// send answers with a file over the image of a system.
func (s *images) send(w http.ResponseWriter, r *http.Request, ask *imageRequest, system *osimages.Image, c sending.Content) error {
	c.Open = system.Open
	bodies := 0
	c.Begin = func(status int) {
		ask.status = status
		if r.Method == http.MethodGet && status != http.StatusNotModified {
			bodies++
			s.Meter.ImageBegun(s.Now().Sub(ask.begun))
		}
	}
	defer func() {
		for range bodies {
			s.Meter.ImageEnded()
		}
	}()
	return s.sender.Serve(w, r, c)
}
