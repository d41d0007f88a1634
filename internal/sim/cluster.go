package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
)

// ClusterOptions say what the new cluster is.
type ClusterOptions struct {
	// Root is the folder of the cluster, a folder of its own.
	Root string
	// Site holds the machines and says what they become (Site.SetCluster).
	Site *site.Site
	// Speed and Times equal the machines' values.
	Speed float64
	Times Times
	// Cloud: the credentials of the cluster belong to a cloud, which its cloud controller manager reaches.
	Cloud bool
	// Controller, when not nil, runs the real controller in this process, as RunController does.
	Controller *ControllerOptions
	Log        *slog.Logger     // slog.Default() when nil
	Now        func() time.Time // time.Now when nil
}

// ControllerOptions say whom the controller reports to.
type ControllerOptions struct {
	ServiceURL string
	ClusterID  uuid.UUID
	Authority  []byte // signed the certificate of the service, PEM; empty: the system trusts it
	Site       *site.Site
	Speed      float64
	Times      Times
	// Root is the folder its log is kept in.
	Root      string
	Transport http.RoundTripper // one that trusts Authority when nil
	Log       *slog.Logger      // slog.Default() when nil
}

// Cluster is the simulated cluster: its API and the rollout of its operators.
type Cluster struct {
	options ClusterOptions
	clock   Clock
	log     *slog.Logger
}

// NewCluster opens the folder of a cluster, or makes it; nothing listens yet.
func NewCluster(o ClusterOptions) (*Cluster, error) {
	if o.Root == "" || o.Site == nil {
		return nil, errors.New("make a cluster: require a folder and a site")
	}
	if o.Times == (Times{}) {
		o.Times = RealTimes
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(o.Root, 0o755); err != nil {
		return nil, fmt.Errorf("make a cluster: %w", err)
	}
	return &Cluster{options: o, clock: Clock{o.Speed}, log: o.Log}, nil
}

// Run waits for a bootstrap host to start a control plane and then is its API, its
// operators and, where asked for, its controller, until ctx ends or another control
// plane begins, which starts from nothing. It returns nil when ctx ends. A process that
// was killed continues where it was.
func (c *Cluster) Run(ctx context.Context) error {
	for {
		life, err := nextLife(ctx, c.options.Site, c.clock, "")
		if err == nil {
			err = c.live(ctx, life)
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // an end on request is no failure
		case err != nil:
			return fmt.Errorf("simulated cluster: %w", err)
		}
	}
}

// nextLife waits for a control plane other than the given one.
func nextLife(ctx context.Context, s *site.Site, clock Clock, present string) (string, error) {
	for {
		life, err := s.Started()
		if err != nil || life != present {
			return life, err
		}
		if err := clock.Pause(ctx, look); err != nil {
			return "", err
		}
	}
}

// live runs one life of the control plane.
func (c *Cluster) live(ctx context.Context, life string) error {
	server, err := kubeapi.New(kubeapi.Options{
		Journal: filepath.Join(c.options.Root, "kube-"+life+".journal"), Now: c.options.Now,
		WatchLimit: max(c.clock.Real(watchLimit), time.Second),
	})
	if err != nil {
		return err
	}
	defer server.Close(context.WithoutCancel(ctx)) //nolint:errcheck // ends the process or this life
	api, err := c.listen(server, life)
	if err != nil {
		return err
	}
	cluster, err := c.options.Site.Cluster()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return awaitNewLife(ctx, c.options.Site, c.clock, life) })
	group.Go(func() error { return c.follow(ctx, server) })
	group.Go(func() error { return c.serveConfigs(ctx, api) })
	if c.options.Cloud {
		group.Go(func() error { return kubeapi.RunCloud(ctx, api, c.poll()) })
	}
	group.Go(func() error {
		err := kubeapi.RunRollout(ctx, api, kubeapi.Rollout{
			ControlPlane: cluster.ControlPlane, Duration: c.clock.Real(c.options.Times.Rollout), Version: cluster.Version,
			Domain: cluster.Name + "." + cluster.Domain, Poll: c.poll(),
		})
		if err != nil {
			return err
		}
		return kubeapi.RunOLM(ctx, api, c.poll())
	})
	group.Go(func() error {
		return kubeapi.RunMetal(ctx, api, kubeapi.MetalWorld{
			Late: c.clock.Real(c.options.Times.Rollout) / 2, Poll: c.poll(),
		})
	})
	if c.options.Controller != nil {
		group.Go(func() error { return RunController(ctx, *c.options.Controller) })
	}
	if err := group.Wait(); !errors.Is(err, errNewLife) {
		return err
	}
	return nil
}

// poll returns the time between two looks at the API. Real components watch it. These look, and share the processors with whatever is
// tested: at high speeds no more often than twice a second.
func (c *Cluster) poll() time.Duration { return max(c.clock.Real(look), 500*time.Millisecond) }

// follow lets the server answer while something is at its address.
func (c *Cluster) follow(ctx context.Context, server *kubeapi.Server) error {
	for {
		server.SetAway(c.options.Site.Away())
		if err := c.clock.Pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

var errNewLife = errors.New("another control plane was started")

// awaitNewLife returns errNewLife once another control plane than the given one was started.
func awaitNewLife(ctx context.Context, s *site.Site, clock Clock, present string) error {
	if _, err := nextLife(ctx, s, clock, present); err != nil {
		return err
	}
	return errNewLife
}

// listen opens the API, at the address of a former process when there was one.
func (c *Cluster) listen(server *kubeapi.Server, life string) (string, error) {
	address := "127.0.0.1:0"
	if before, err := c.options.Site.Published(); err == nil && before.Life == life {
		if u, err := url.Parse(before.URL); err == nil && u.Host != "" {
			address = u.Host
		}
	}
	api, err := server.Start(address)
	if err != nil && address != "127.0.0.1:0" {
		api, err = server.Start("127.0.0.1:0")
	}
	if err != nil {
		return "", err
	}
	return api, c.options.Site.PublishAPI(site.ControlPlane{Life: life, URL: api})
}

// watchLimit is when an API server ends a watch: after five to ten minutes.
const watchLimit = 5 * time.Minute

// pauseBeforeRestart is the time until a failed pod is started again.
const pauseBeforeRestart = 10 * time.Second

func (o ControllerOptions) pause(ctx context.Context) error {
	return hostexec.Sleep(ctx, max(Clock{o.Speed}.Real(pauseBeforeRestart), 200*time.Millisecond))
}
