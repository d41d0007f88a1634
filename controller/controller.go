package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// refusals is how often in a row the service may refuse the token before the controller treats the cluster as
// removed.
const refusals = 3

// kubeTimeout bounds one call of the kube API.
const kubeTimeout = 30 * time.Second

// controller is the running controller: its Options and its state.
type controller struct {
	Options
	kube     kubernetes.Interface
	watching kubernetes.Interface // has no time limit
	dynamic  dynamic.Interface
	config   *rest.Config
	troubles

	applied     map[string]bool   // late manifests, by file and place
	sent        map[string]string // messages of notices, by what they are about
	rebootTries map[string]int    // by node
	dnsServed   bool

	reported     map[types.UID]bool // certificate requests whose refusal was reported
	decisions    []notice           // about certificate requests, not sent yet
	logsSentAt   time.Time
	statusSince  time.Time // of the cluster; the next two hold for this status
	lastLogsSent bool
	last         *lastLogs     // are being sent
	known        *wire.Cluster // as the service showed it last
	completed    bool
	installedAt  time.Time // when this process saw it first
	refused      int
}

// Run works until the installation has ended: the cluster is installed, cancelled, adds hosts, or is unknown to
// the service. It then returns nil, the error of ctx when that ended before, and ErrOptions when an option is
// missing. Errors of the service and the kube API are logged and retried. A cluster in error gets its logs sent
// and is watched further, because its installation may be resumed.
func Run(ctx context.Context, o Options) error {
	c, err := build(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer cancel()
	defer c.dropLastLogs()
	wake := make(chan struct{}, 1)
	watchers.Go(func() { c.watchRequests(ctx, wake) })
	watchers.Go(func() { c.watchNodes(ctx, wake) })

	c.recall(ctx)
	c.Log.InfoContext(ctx, "controller started", "cluster", c.ClusterID)
	for {
		next, err := c.round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case next == leave:
			return nil
		}
		c.note(ctx, "round", err)
		if err := c.pause(ctx, next, wake); err != nil {
			return err
		}
	}
}

func build(o Options) (*controller, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(o.Kube)
	config.QPS = -1 // rounds come at a bounded rate; throttling would only delay approvals
	watching, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the watching client of the kube API: %w", err)
	}
	config.Timeout = kubeTimeout
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of the kube API: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the dynamic client of the kube API: %w", err)
	}
	return &controller{
		Options: o, kube: kube, watching: watching, dynamic: dyn, config: config, logsSentAt: o.Now(),
		troubles: troubles{log: o.Log}, reported: map[types.UID]bool{},
		applied: map[string]bool{}, sent: map[string]string{}, rebootTries: map[string]int{},
	}, nil
}

// next is the step after a round.
type next int

const (
	wait  next = iota // until the interval is over or something happens
	again             // soon: the service shows something new
	leave
)

// round observes once and does what is missing.
func (c *controller) round(ctx context.Context) (next, error) {
	found, err := c.Service.Cluster(ctx, c.ClusterID)
	if deleted := c.givenUp(ctx, err); deleted || err != nil {
		if deleted {
			return leave, nil
		}
		c.approveWithoutService(ctx, err)
		return wait, fmt.Errorf("read the cluster: %w", err)
	}
	c.remember(ctx, found)
	c.sendDecisions(ctx) // of rounds without the service
	status := model.ClusterStatus(found.Status)
	c.forget(found.StatusUpdatedAt.Time())
	if ended(status) {
		c.note(ctx, "resume the pool of workers", c.resumePool(ctx, ClusterOf(found).Hosts))
		if status == model.ClusterInstalled && c.freesHosts(ctx, found) {
			return wait, nil
		}
		if status == model.ClusterInstalled && c.owesLastLogs(ctx) {
			return wait, nil
		}
		c.Log.InfoContext(ctx, "installation ended", "status", status)
		return leave, nil
	}
	state, err := c.observe(ctx, found)
	if err != nil {
		if state.LogsDue { // they explain why nothing else proceeds
			c.apply(ctx, Plan{Duties: []Action{SendLogs{}}})
		}
		return wait, err
	}
	after := c.apply(ctx, Missing(state))
	c.sendDecisions(ctx)
	return after, nil
}

// givenUp reports whether the service has removed the cluster: it does not know it, or has refused the token
// several times.
func (c *controller) givenUp(ctx context.Context, err error) bool {
	if !errors.Is(err, client.ErrUnauthorized) {
		c.refused = 0
	} else {
		c.refused++
	}
	if errors.Is(err, model.ErrNotFound) || c.refused >= refusals {
		c.Log.WarnContext(ctx, "cluster given up", "reason", err.Error())
		return true
	}
	return false
}

func (c *controller) apply(ctx context.Context, p Plan) next {
	after := wait
	try := func(a Action) bool {
		err := a.do(ctx, c)
		c.note(ctx, fmt.Sprintf("%T", a), err)
		if err == nil && advances(a) {
			after = again
		}
		return err == nil
	}
	for _, a := range p.Duties {
		try(a)
	}
	for _, a := range p.Steps {
		if !try(a) {
			break
		}
	}
	return after
}

// pause waits for the next round, and at least a little: neither a busy cluster nor a service that loses
// reports may keep the controller spinning.
func (c *controller) pause(ctx context.Context, after next, wake <-chan struct{}) error {
	least := min(c.Interval/10, time.Second)
	if err := sleep(ctx, least, nil); err != nil || after == again {
		return err
	}
	return sleep(ctx, c.Interval-least, wake)
}

func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
	}
	return nil
}
