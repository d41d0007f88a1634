package liveisos

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
)

// Options holds the settings of a store. Folder, Log and Now are required; Client is, to run one.
type Options struct {
	// Folder holds the images; it is created if missing.
	Folder string
	// Images come from the settings.
	Images openshift.OSImages
	// OnDemand downloads an image when it is requested first, not at the start: a shipped list has more images
	// than a site boots.
	OnDemand bool
	// Client downloads. Headers and Query are sent with each request to the address in the settings, and
	// Headers with redirections that stay on its host.
	Client  *http.Client
	Headers map[string]model.Secret
	Query   map[string]model.Secret

	Log *slog.Logger
	Now func() time.Time
	// After is the clock's time.After; nil: that.
	After func(time.Duration) <-chan time.Time
	// Stall is how long a download may go without a byte; zero: a minute.
	Stall time.Duration
	// SyncBytes is how often a download is synced to the disk, and so how much of it a power failure costs at
	// most; zero: 64 MiB.
	SyncBytes int64
	// Free returns how many bytes fit into the folder's file system; nil: asks the kernel.
	Free func(folder string) (int64, error)
	// Inspect parses an ISO; nil: remaster.Inspect.
	Inspect func(r io.ReaderAt, size int64) (*remaster.Base, error)
	// Complete returns an error for a complete download that cannot be an image of a release; nil:
	// remaster.Base.CheckSizes. Images that an operator added are not checked.
	Complete func(*remaster.Base) error
}

const (
	// atOnce is how many images are downloaded at a time: one more than the slowest.
	atOnce = 2
	// firstPause and longestPause are the pauses between tries.
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
	// busyPause is how often an image that another process downloads is checked.
	busyPause = 5 * time.Second
	// keepUnlisted is how long a download is kept that is not listed any more.
	keepUnlisted = 7 * 24 * time.Hour
	// unknownSize is the free disk space that a download of unknown length requires all the time.
	unknownSize = 1 << 30
	// coarseClock is more than the resolution of any file system's clock.
	coarseClock = 2 * time.Second
	// tidyEvery is how often unused files are searched for.
	tidyEvery = 24 * time.Hour
)

func (o Options) complete() Options {
	if o.After == nil {
		o.After = time.After
	}
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	if o.SyncBytes == 0 {
		o.SyncBytes = 64 << 20
	}
	if o.Free == nil {
		o.Free = free
	}
	if o.Inspect == nil {
		o.Inspect = remaster.Inspect
	}
	if o.Complete == nil {
		o.Complete = (*remaster.Base).CheckSizes
	}
	return o
}

// free returns the bytes that users without privileges can still write.
func free(folder string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return 0, fmt.Errorf("look at the file system of %s: %w", folder, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}
