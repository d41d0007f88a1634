package cri

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ImageStatus reports that an image is there that some registry has: hosts have none.
func (s *Server) ImageStatus(_ context.Context, r *runtime.ImageStatusRequest) (*runtime.ImageStatusResponse, error) {
	if !s.exists(r.GetImage()) {
		return &runtime.ImageStatusResponse{}, nil
	}
	return &runtime.ImageStatusResponse{Image: image(r.GetImage())}, nil
}

// PullImage has nothing to fetch. A name without a registry is refused: RHCOS looks for it in public registries, which
// have what was published there.
func (s *Server) PullImage(_ context.Context, r *runtime.PullImageRequest) (*runtime.PullImageResponse, error) {
	if !s.exists(r.GetImage()) {
		return nil, status.Errorf(codes.NotFound, "require an image that a registry has, found %q", r.GetImage().GetImage())
	}
	return &runtime.PullImageResponse{ImageRef: r.GetImage().GetImage()}, nil
}

// exists reports whether an image names its registry, or is one of the bench.
func (s *Server) exists(image *runtime.ImageSpec) bool {
	registry, _, ok := strings.Cut(image.GetImage(), "/")
	return ok && strings.ContainsAny(registry, ".:") || s.program(image) != ""
}

// ListImages lists the images of the containers.
func (s *Server) ListImages(context.Context, *runtime.ListImagesRequest) (*runtime.ListImagesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := &runtime.ListImagesResponse{}
	seen := map[string]bool{}
	for _, one := range s.containers {
		if name := one.Config.GetImage().GetImage(); !seen[name] {
			seen[name] = true
			found.Images = append(found.Images, image(one.Config.GetImage()))
		}
	}
	return found, nil
}

// RemoveImage has nothing to remove.
func (s *Server) RemoveImage(context.Context, *runtime.RemoveImageRequest) (*runtime.RemoveImageResponse, error) {
	return &runtime.RemoveImageResponse{}, nil
}

// ImageFsInfo returns the size of the file system that containers are kept in.
func (s *Server) ImageFsInfo(context.Context, *runtime.ImageFsInfoRequest) (*runtime.ImageFsInfoResponse, error) {
	var system syscall.Statfs_t
	if err := syscall.Statfs(s.o.Root, &system); err != nil {
		return nil, fmt.Errorf("look at the room of %s: %w", s.o.Root, err)
	}
	usage := []*runtime.FilesystemUsage{{
		Timestamp: s.o.Now().UnixNano(), FsId: &runtime.FilesystemIdentifier{Mountpoint: s.o.Root},
		UsedBytes: &runtime.UInt64Value{}, InodesUsed: &runtime.UInt64Value{},
	}}
	return &runtime.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}

// image has its reference as its id, so that containers tell by what name it was asked for.
func image(spec *runtime.ImageSpec) *runtime.Image {
	return &runtime.Image{Id: spec.GetImage(), RepoTags: []string{spec.GetImage()}, Size: 1, Spec: spec}
}
