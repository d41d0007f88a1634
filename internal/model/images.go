package model

import "slipway/internal/wire"

// minDownloadRate is the rate in MB/s below which a pull counts as failed.
const minDownloadRate = 0.001

// ImageFailed reports whether an image was refused, or was pulled so slowly that it counts as unavailable.
func ImageFailed(img *wire.ContainerImageAvailability) bool {
	return img.Result == wire.ContainerImageAvailabilityResultFailure ||
		img.SizeBytes > 0 && img.DownloadRate < minDownloadRate
}
