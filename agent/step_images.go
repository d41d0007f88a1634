package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	// exitImages says that at least one image is not available.
	exitImages = 2
	// imagesLimit is how long all images may take unless the request says.
	imagesLimit = 16 * time.Minute
)

// imageAvailability pulls the images an installation needs and measures how fast they
// come. An image that was there already has no measurements.
func (a *Agent) imageAvailability(
	ctx context.Context, req *wire.ContainerImageAvailabilityRequest,
) (wire.ContainerImageAvailabilityResponse, error) {
	limit := time.Duration(req.Timeout) * time.Second
	if limit == 0 {
		limit = imagesLimit
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimedOut{limit})
	defer cancel()
	var failures []string
	response := wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{}}
	for _, image := range req.Images {
		found, err := a.image(ctx, limited, image)
		if ctx.Err() != nil {
			return response, context.Cause(ctx)
		}
		if err != nil {
			failures = append(failures, err.Error())
		}
		response.Images = append(response.Images, found)
	}
	if len(failures) > 0 {
		return response, &partialError{exitImages, strings.Join(failures, "; ")}
	}
	return response, nil
}

// image pulls an image within a limit; what is there needs no time.
func (a *Agent) image(ctx, limited context.Context, image string) (wire.ContainerImageAvailability, error) {
	found := wire.ContainerImageAvailability{Name: image, Result: wire.ContainerImageAvailabilityResultFailure}
	if local, err := a.podman(ctx, "images", "--quiet", image); err == nil && local != "" {
		found.Result = wire.ContainerImageAvailabilityResultSuccess
		return found, nil
	}
	begin := a.host.Now()
	if _, err := a.podman(limited, "pull", "--quiet", image); err != nil {
		return found, fmt.Errorf("pull %s: %w", image, err)
	}
	seconds := a.host.Now().Sub(begin).Seconds()
	text, err := a.podman(limited, "image", "inspect", "--format={{.Size}}", image)
	if err != nil {
		return found, fmt.Errorf("read the size of %s: %w", image, err)
	}
	size, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return found, fmt.Errorf("read the size of %s: %w", image, err)
	}
	found.Result, found.SizeBytes, found.Time = wire.ContainerImageAvailabilityResultSuccess, float32(size), float32(seconds)
	if seconds > 0 {
		found.DownloadRate = float32(size / seconds)
	}
	return found, nil
}

func (a *Agent) podman(ctx context.Context, args ...string) (string, error) {
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "podman", Args: args})
	return strings.TrimSpace(result.Stdout), err
}
