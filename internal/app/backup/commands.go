package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"filippo.io/age"
	"github.com/dustin/go-humanize"
	"github.com/jackc/pgx/v5"
	gocloud "gocloud.dev/blob"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/postgres"
)

// parts are the settings of a service that say where it keeps what.
type parts struct {
	settings.Place
	settings.Bundled
	BlobURL string `env:"SLIPWAY_BLOB_URL" help:"Where the service keeps files, if not in the data folder." placeholder:"URL"`
}

// Command writes a backup.
type Command struct {
	parts
	settings.Backup
}

// Help says what is in a backup.
func (*Command) Help() string {
	return `It has the database, keys, token key, authority, settings and files. The service may run. The backup opens all of its secrets, and
is encrypted with a passphrase, or for recipients of age (age1..., ssh-ed25519 ...). It is read back when it is written.`
}

// Run writes a backup and reads it back.
func (c *Command) Run(ctx context.Context, p *process.Process, s *settings.Sources) error {
	if c.To == "" {
		return errors.New("require --backup-to, such as /srv/backups or s3://BUCKET?region=REGION")
	}
	recipients, identities, err := c.Recipient()
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.Path(c.DataDir, p.Env)); err != nil {
		return fmt.Errorf("no service has been started with these settings: %w", err) // an open would make a database
	}
	place, end, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer end()
	if s.File != nil {
		place.Settings = s.File.Path
	}
	to, err := destination(ctx, c.To)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	name := prefix + p.Now().UTC().Format("20060102T150405Z") + suffix
	summary, sum, err := write(ctx, to, name, recipients, place)
	if err != nil {
		return err
	}
	if err := readBack(ctx, to, name, sum, identities); err != nil {
		return fmt.Errorf("%s cannot be read back: %w", name, err)
	}
	fmt.Fprintf(p.Stdout, "%s: %d files and %d objects, %s; read back\n", name, summary.Files, summary.Blobs,
		humanize.IBytes(uint64(summary.Bytes))) //nolint:gosec // sizes are positive
	return c.forget(ctx, p, to)
}

const (
	prefix = "slipway-"
	suffix = ".age"
)

// write writes an object, all of it or nothing, and returns its digest.
func write(ctx context.Context, to *gocloud.Bucket, name string, recipients []age.Recipient, p Place) (Summary, string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := to.NewWriter(ctx, name, nil)
	if err != nil {
		return Summary{}, "", fmt.Errorf("write %s: %w", name, err)
	}
	digest := sha256.New()
	summary, err := Write(ctx, io.MultiWriter(w, digest), recipients, p)
	if err != nil {
		cancel() // which discards what was written
	}
	return summary, hex.EncodeToString(digest.Sum(nil)), errors.Join(err, w.Close())
}

// nothing visits a member that is only compared with its digest.
func nothing(string, io.Reader) error { return nil }

// readBack compares an object with its digest, and reads its members where a passphrase opens them.
func readBack(ctx context.Context, from *gocloud.Bucket, name, sum string, identities []age.Identity) error {
	r, err := from.NewReader(ctx, name, nil)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	digest := sha256.New()
	stored := io.TeeReader(r, digest)
	if len(identities) > 0 {
		if _, err := Read(stored, identities, nothing); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, stored); err != nil {
		return err
	}
	if found := hex.EncodeToString(digest.Sum(nil)); found != sum {
		return fmt.Errorf("require the digest %s, found %s", sum, found)
	}
	return nil
}

// forget removes the oldest backups beyond the number that is kept.
func (c *Command) forget(ctx context.Context, p *process.Process, to *gocloud.Bucket) error {
	if c.Keep == 0 {
		return nil
	}
	names, err := backupsIn(ctx, to)
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-int(c.Keep))] { //nolint:gosec // an int counts them
		if err := to.Delete(ctx, name); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		fmt.Fprintf(p.Stdout, "%s: removed, --backup-keep %d\n", name, c.Keep)
	}
	return nil
}

// backupsIn returns the names of backups, the newest last.
func backupsIn(ctx context.Context, bucket *gocloud.Bucket) (names []string, err error) {
	for list := bucket.List(&gocloud.ListOptions{Prefix: prefix}); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list backups: %w", err)
		}
		if strings.HasSuffix(object.Key, suffix) {
			names = append(names, object.Key)
		}
	}
}

// destination opens a folder, which it makes, or a bucket.
func destination(ctx context.Context, to string) (*gocloud.Bucket, error) {
	if !strings.Contains(to, "://") {
		path, err := filepath.Abs(to)
		if err != nil {
			return nil, fmt.Errorf("read --backup-to: %w", err)
		}
		to = "file://" + filepath.ToSlash(path) + "?create_dir=1"
	}
	return blob.OpenBucket(ctx, to)
}

// open opens what is backed up, or filled. A bundled database that does not run is started.
func (c *parts) open(ctx context.Context, p *process.Process) (place Place, end func(), err error) {
	place = Place{DataDir: c.DataDir, KeyFile: c.Path(c.DataDir, p.Env), DatabaseURL: c.DatabaseURL, Now: p.Now}
	if place.PGDump, err = postgres.Tool(c.DataDir, "pg_dump"); err != nil {
		return place, nil, err
	}
	if place.PGRestore, err = postgres.Tool(c.DataDir, "pg_restore"); err != nil {
		return place, nil, err
	}
	stop := func() {}
	if place.DatabaseURL == "" {
		if place.DatabaseURL, stop, err = c.bundled(ctx, p); err != nil {
			return place, nil, err
		}
	}
	if place.Blobs, err = blob.OpenBucket(ctx, settings.BlobAddress(c.BlobURL, c.DataDir)); err != nil {
		stop()
		return place, nil, err
	}
	return place, func() { _ = place.Blobs.Close(); stop() }, nil
}

func (c *parts) bundled(ctx context.Context, p *process.Process) (address string, stop func(), err error) {
	address = postgres.URLOf(c.DataDir)
	if running, err := pgx.Connect(ctx, address); err == nil {
		return address, func() {}, running.Close(ctx)
	}
	if err := c.sameUser(); err != nil {
		return "", nil, err
	}
	server, err := postgres.Start(ctx, postgres.Options{
		DataDir: c.DataDir, Account: c.PostgresUser, Logger: p.Log.With("part", "database"), Now: p.Now,
	})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), func() {
		if err := server.Stop(context.WithoutCancel(ctx)); err != nil {
			p.Log.Error("database not stopped", "error", err)
		}
	}, nil
}

// sameUser refuses to start a database as another user than the service has: its files would be that user's.
func (c *parts) sameUser() error {
	info, err := os.Stat(c.DataDir)
	if err != nil {
		return nil //nolint:nilerr // there is no folder yet
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user id %d, and its database does not run: run this as that user, such as "+
			"runuser -u slipway -- slipway ..., or start the service", c.DataDir, stat.Uid)
	}
	return nil
}

// RestoreCommand restores a backup.
type RestoreCommand struct {
	parts
	settings.Opening
	File string `arg:"" help:"The backup: a file, s3://BUCKET/NAME?region=..., or - for standard input." placeholder:"FILE"`
}

// Help says what a restore does not do.
func (*RestoreCommand) Help() string {
	return `It fills an empty data folder, or the empty database of --database-url, and replaces nothing. Run it as the user of the service:
runuser -u slipway -- slipway restore FILE. Hosts know the service by its address: the restored one needs the same. Stop the old one
for good before: two services would command the same hosts.`
}

// Run restores into an empty place. What it made is removed when it fails.
func (c *RestoreCommand) Run(ctx context.Context, p *process.Process) error {
	identities, err := c.Identities()
	if err != nil {
		return err
	}
	if err := c.checkEmpty(p); err != nil {
		return err
	}
	if err := c.sameUser(); err != nil {
		return err
	}
	var in io.ReadSeekCloser = os.Stdin
	if c.File != "-" {
		if in, err = openBackup(ctx, c.File); err != nil {
			return fmt.Errorf("open the backup: %w", err)
		}
		defer func() { _ = in.Close() }()
		// Looked at as a whole before anything is made; standard input can be read once only.
		if _, err := Read(in, identities, nothing); err != nil {
			return err
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the backup again: %w", err)
		}
	}
	if err := os.MkdirAll(c.DataDir, 0o711); err != nil { //nolint:gosec // the database's own user passes through
		return fmt.Errorf("create data folder: %w", err)
	}
	mark := filepath.Join(c.DataDir, Unfinished)
	marked, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // one restore at a time
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := marked.Close(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	about, err := c.restore(ctx, p, in, identities)
	if err != nil {
		return errors.Join(err, c.undo(p))
	}
	if err := os.Remove(mark); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	made := about.MadeAt.Format("2006-01-02 15:04:05 MST")
	fmt.Fprintf(p.Stdout, "restored into %s: the backup of %s, made by slipway %s\n", c.DataDir, made, about.Version)
	if _, err := os.Stat(filepath.Join(c.DataDir, restoredSettings)); err == nil {
		fmt.Fprintf(p.Stdout, "compare the settings of the backup with yours: %s\n", filepath.Join(c.DataDir, restoredSettings))
	}
	fmt.Fprintln(p.Stdout, "start the service with the address that hosts know; slipway doctor examines the machine first")
	return nil
}

// openBackup opens a file, or an object of a bucket whose URL has the name of the object as its path.
func openBackup(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if !strings.Contains(name, "://") {
		return os.Open(name)
	}
	address, err := url.Parse(name)
	if err != nil {
		return nil, err
	}
	if address.Scheme == "file" {
		return os.Open(address.Path)
	}
	key := strings.TrimPrefix(address.Path, "/")
	address.Path = ""
	bucket, err := blob.OpenBucket(ctx, address.String())
	if err != nil {
		return nil, err
	}
	if key == "" {
		err = requireName(ctx, bucket, *address)
	} else if r, rerr := bucket.NewReader(ctx, key, nil); rerr == nil {
		return &object{r, bucket}, nil
	} else {
		err = rerr
	}
	return nil, errors.Join(err, bucket.Close())
}

// requireName names the newest backup of a bucket.
func requireName(ctx context.Context, bucket *gocloud.Bucket, address url.URL) error {
	names, err := backupsIn(ctx, bucket)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("the bucket has no backups")
	}
	address.Path = "/" + names[len(names)-1]
	return fmt.Errorf("require the name of a backup: the newest is %s", address.String())
}

// object is a backup in a bucket.
type object struct {
	*gocloud.Reader
	bucket *gocloud.Bucket
}

// Close ends the connection to the bucket too.
func (o *object) Close() error { return errors.Join(o.Reader.Close(), o.bucket.Close()) }

func (c *RestoreCommand) restore(ctx context.Context, p *process.Process, r io.Reader, identities []age.Identity) (About, error) {
	place, end, err := c.open(ctx, p)
	if err != nil {
		return About{}, err
	}
	defer end()
	return Restore(ctx, r, identities, place)
}

// caches are folders that a restore neither minds nor touches.
var caches = []string{"images", "releases"}

// checkEmpty returns an error when the data folder or the key file has been used.
func (c *RestoreCommand) checkEmpty(p *process.Process) error {
	entries, err := os.ReadDir(c.DataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(caches, e.Name()) {
			return fmt.Errorf("require a data folder that was not used, found %s: a restore replaces nothing; "+
				"move %s away, or name another --data-dir", filepath.Join(c.DataDir, e.Name()), c.DataDir)
		}
	}
	if path := c.Path(c.DataDir, p.Env); path != filepath.Join(c.DataDir, "keys") {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("require a key file that is not there, found %s: a restore replaces nothing", path)
		}
	}
	return nil
}

// undo empties the data folder again and removes the keys. The mark goes last. Objects in a bucket stay: they are sealed, and the next
// restore writes the same ones.
func (c *RestoreCommand) undo(p *process.Process) error {
	entries, err := os.ReadDir(c.DataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("empty the data folder again: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(caches, name) && name != Unfinished {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.DataDir, name)))
		}
	}
	return errors.Join(err, os.RemoveAll(c.Path(c.DataDir, p.Env)), os.RemoveAll(filepath.Join(c.DataDir, Unfinished)))
}
