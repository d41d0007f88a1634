package operators

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/bootkube"
	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// probeLimit bounds one look at a server.
const probeLimit = 30 * time.Second

// Facts are observed. A nil error in a map says that the thing of that node works.
type Facts struct {
	Masters, Workers map[string]error // nodes
	Etcd             map[string]error // members by name
	EtcdUnknown      error            // why the members are not known
	APIServers       map[string]error
	Controllers      map[string]error
	Router, Console  error
}

// look finds the facts about the nodes there are. It looks at all at once: what is dead
// costs its time limit, and only once.
func (o *Operators) look(ctx context.Context, nodes []corev1.Node) Facts {
	f := Facts{
		Masters: map[string]error{}, Workers: map[string]error{}, Etcd: map[string]error{},
		APIServers: map[string]error{}, Controllers: map[string]error{},
	}
	var all sync.WaitGroup
	var writing sync.Mutex
	for i := range nodes {
		node := &nodes[i]
		switch roleOf(node) {
		case plan.Worker:
			f.Workers[node.Name] = readiness(node)
		case plan.Master:
			f.Masters[node.Name] = readiness(node)
			all.Go(func() {
				api, controllers := o.lookAt(ctx, node)
				writing.Lock()
				defer writing.Unlock()
				f.APIServers[node.Name], f.Controllers[node.Name] = api, controllers
			})
		}
	}
	all.Go(func() { f.EtcdUnknown = o.lookAtEtcd(ctx, f.Etcd) })
	all.Go(func() {
		f.Router = o.visit(ctx, "https://canary-openshift-ingress-canary."+o.Host.Plan.Apps()+"/healthz")
	})
	all.Go(func() { f.Console = o.visit(ctx, "https://"+consoleHost(o.Host.Plan)+"/") })
	all.Wait()
	return f
}

func roleOf(node *corev1.Node) string { return node.Labels[programs.RoleLabel] }

func readiness(node *corev1.Node) error {
	if bootkube.Ready(node) {
		return nil
	}
	return errors.New("the node is not ready")
}

func (o *Operators) lookAt(ctx context.Context, node *corev1.Node) (api, controllers error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	address, err := bootkube.APIOf(node)
	if err != nil {
		return err, err
	}
	api = kube.Answers(ctx, kube.Config(address, o.Host.Keys), "/readyz")
	// Controller managers sign for themselves.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true,
		}, DisableKeepAlives: true, //nolint:gosec // see above; only health is asked for
	}}
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return api, get(ctx, client, programs.URL(a.Address, programs.ControllerPort)+"/healthz")
		}
	}
	return api, errors.New("the node has no address")
}

func (o *Operators) lookAtEtcd(ctx context.Context, into map[string]error) error {
	members, err := o.Etcd.Members(ctx, programs.URL(o.Host.Plan.InternalName(), programs.EtcdClientPort))
	if err != nil {
		return err
	}
	for _, m := range members {
		into[m.Name] = o.memberHealth(ctx, m)
	}
	return nil
}

func (o *Operators) memberHealth(ctx context.Context, m etcd.Member) error {
	if !m.Votes() || len(m.Clients) == 0 {
		return errors.New("it does not vote yet")
	}
	return o.Etcd.Healthy(ctx, m.Clients[0])
}

// visit asks the router as users do: by name, trusting its authority.
func (o *Operators) visit(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	authority, err := os.ReadFile(o.Host.Keys.Cert(pki.RouterSigner))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
	}
	return get(ctx, client, url)
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("require %s to answer, found %s", url, response.Status)
	}
	return nil
}

// working counts what works.
func working(things map[string]error) int {
	n := 0
	for _, err := range things {
		if err == nil {
			n++
		}
	}
	return n
}

// firstTrouble returns the first thing by name that does not work, and why.
func firstTrouble(things map[string]error) string {
	var names []string
	for name, err := range things {
		if err != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf(": %s: %s", names[0], things[names[0]])
}
