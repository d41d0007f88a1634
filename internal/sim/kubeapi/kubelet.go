package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// NodeSpec is the machine a simulated kubelet runs on.
type NodeSpec struct {
	// Name is the node name: the host name in lower case.
	Name string
	// Addresses are its InternalIPs, also asked for in the serving certificate.
	Addresses []netip.Addr
	// Roles become node-role.kubernetes.io/<role> labels: master, worker, control-plane.
	Roles []string
	// Architecture of the machine as Go names it; this machine's if empty.
	Architecture string
	// Uninitialized: the kubelet has an external cloud provider, and its node a taint until that one has seen it.
	Uninitialized bool
	// Taints are further ones that the node joins with.
	Taints []corev1.Taint
	// ReadyAfter is the time from the creation of the node until it is Ready.
	ReadyAfter time.Duration
	// Poll is the time between two looks at the API; 500 ms if zero.
	Poll time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// ErrCSRDenied is returned by RunKubelet when a certificate request of it was denied.
var ErrCSRDenied = errors.New("certificate request denied")

// RunKubelet joins a machine to the cluster as a kubelet does: it asks for a client
// certificate as the node bootstrapper, creates the node once that is issued, asks for
// a serving certificate as the node, and sets the node Ready when both are issued and
// ReadyAfter has passed. The machine config daemon, a pod of the node, then reports the
// config of the node in annotations. It returns nil then. An API that does not answer is tried
// again until ctx ends. Where it is comes from the API alone: run it again after a
// crash and it continues; a node that is Ready already returns at once.
func RunKubelet(ctx context.Context, apiURL string, spec NodeSpec) error {
	if spec.Poll <= 0 {
		spec.Poll = defaultPoll
	}
	if spec.Now == nil {
		spec.Now = time.Now
	}
	k, err := newKubelet(apiURL, spec)
	if err != nil {
		return err
	}
	return poll(ctx, spec.Poll, k.step)
}

const defaultPoll = 500 * time.Millisecond

// poll calls step until it is done or gives up with a *permanentError; after other errors the API is away, and poll tries again.
func poll(ctx context.Context, every time.Duration, step func(context.Context) (bool, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		done, err := step(ctx)
		var permanent *permanentError
		switch {
		case errors.As(err, &permanent):
			return permanent.err
		case err == nil && done:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// permanentError is an error that asking again does not fix.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

type kubelet struct {
	spec NodeSpec
	// bootstrap speaks as the node bootstrapper, node as the node itself.
	bootstrap, node kubernetes.Interface
}

func newKubelet(apiURL string, spec NodeSpec) (*kubelet, error) {
	bootstrap, err := kubernetes.NewForConfig(Config(apiURL, UserNodeBootstrapper))
	if err != nil {
		return nil, fmt.Errorf("make bootstrap client of kubelet %s: %w", spec.Name, err)
	}
	node, err := kubernetes.NewForConfig(Config(apiURL, nodeUser(spec.Name)))
	if err != nil {
		return nil, fmt.Errorf("make client of kubelet %s: %w", spec.Name, err)
	}
	return &kubelet{spec: spec, bootstrap: bootstrap, node: node}, nil
}

func nodeUser(name string) string { return "system:node:" + name }

// step does what is due now and reports whether the node is Ready.
func (k *kubelet) step(ctx context.Context) (bool, error) {
	issued, err := k.certificate(ctx, k.bootstrap, certRequest{
		name: "node-csr-" + k.spec.Name, signer: certv1.KubeAPIServerClientKubeletSignerName, usage: certv1.UsageClientAuth,
	})
	if err != nil || !issued {
		return false, err
	}
	node, err := k.ensureNode(ctx)
	if err != nil {
		return false, err
	}
	if nodeReady(node) {
		if node, err = k.schedule(ctx, node); err != nil {
			return false, err
		}
		return k.runDaemon(ctx, node)
	}
	issued, err = k.certificate(ctx, k.node, certRequest{
		name: "node-serving-" + k.spec.Name, signer: certv1.KubeletServingSignerName, usage: certv1.UsageServerAuth,
		dnsNames: []string{k.spec.Name}, addresses: k.spec.Addresses,
	})
	if err != nil || !issued || k.age(node) < k.spec.ReadyAfter {
		return false, err
	}
	return false, k.setReady(ctx, node, corev1.ConditionTrue)
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
