// Package hub runs the API of a hub cluster on loopback: etcd, kube-apiserver and, where they are asked for, controllers of
// kube-controller-manager. They are the programs of Kubernetes; the cluster has no node.
package hub

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/payload/pki"
	"slipway/internal/sim/process"
)

const (
	// readyLimit is how long the API server may take to serve.
	readyLimit = 5 * time.Minute
	// lookEvery is the time between two looks.
	lookEvery = 100 * time.Millisecond
	// stopLimit is how long a program may take to end.
	stopLimit = 30 * time.Second
)

// Ports is how many ports of loopback a hub needs.
const Ports = 3

// Options say where the hub is.
type Options struct {
	// Programs is a folder with etcd, kube-apiserver and kube-controller-manager.
	Programs string
	// Dir is a folder for keys, data and logs.
	Dir string
	// Port is the first of three free ones, one after the other; 0: any that are free.
	Port int
	// Controllers of kube-controller-manager that run, as its flag lists them; empty: none.
	Controllers string
}

// Hub is a cluster without nodes.
type Hub struct {
	// Kubeconfig is a file with the access of its administrator, Config its content.
	Kubeconfig string
	Config     *rest.Config

	options   Options
	processes []*process.Process
}

// Start starts the programs and waits until the API server is ready.
func Start(ctx context.Context, o Options) (*Hub, error) {
	h := &Hub{Kubeconfig: filepath.Join(o.Dir, "kubeconfig"), options: o}
	if err := h.start(ctx); err != nil {
		h.Stop()
		return nil, fmt.Errorf("start the hub: %w", err)
	}
	return h, nil
}

func (h *Hub) start(ctx context.Context) error {
	addresses, err := h.addresses()
	if err != nil {
		return err
	}
	clients, peers, api := addresses[0], addresses[1], addresses[2]
	keys, err := h.keys("https://" + api.String())
	if err != nil {
		return err
	}
	if err := h.program("etcd", "--name=hub", "--data-dir="+filepath.Join(h.options.Dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=http://"+clients.String(), "--advertise-client-urls=http://"+clients.String(),
		"--listen-peer-urls=http://"+peers.String(), "--initial-advertise-peer-urls=http://"+peers.String(),
		"--initial-cluster=hub=http://"+peers.String()); err != nil {
		return err
	}
	if err := h.program("kube-apiserver", "--etcd-servers=http://"+clients.String(),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", api.Port),
		"--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", // neither is used without a node
		"--tls-cert-file="+keys.Cert("apiserver"), "--tls-private-key-file="+keys.Key("apiserver"), "--client-ca-file="+keys.Cert("ca"),
		"--service-cluster-ip-range=172.30.0.0/16", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keys.Key("ca"), "--service-account-signing-key-file="+keys.Key("ca"),
		"--authorization-mode=RBAC"); err != nil {
		return err
	}
	if err := h.awaitReady(ctx); err != nil || h.options.Controllers == "" {
		return err
	}
	return h.program("kube-controller-manager", "--kubeconfig="+h.Kubeconfig, "--authentication-skip-lookup=true",
		"--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false", "--controllers="+h.options.Controllers,
		"--service-account-private-key-file="+keys.Key("ca"))
}

// keys makes the certificates, and the kubeconfig of the administrator.
func (h *Hub) keys(server string) (pki.Keys, error) {
	keys := pki.Keys(filepath.Join(h.options.Dir, "pki"))
	if err := os.MkdirAll(string(keys), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of keys: %w", err)
	}
	now := time.Now()
	authority, err := pki.Authority("hub", now)
	if err != nil {
		return "", err
	}
	if err := errors.Join(
		keys.Store("ca", authority),
		keys.Issue(authority, "apiserver", pki.Subject{Name: "kube-apiserver", Hosts: []string{"127.0.0.1"}}, now),
		keys.Issue(authority, "admin", pki.Subject{Name: "admin", Groups: []string{"system:masters"}}, now),
	); err != nil {
		return "", err
	}
	admin, err := keys.Load("admin")
	if err != nil {
		return "", err
	}
	access, err := pki.Access{Cluster: "hub", User: "admin", Server: server, Authority: authority.Cert, Client: admin}.Kubeconfig()
	if err != nil {
		return "", err
	}
	if h.Config, err = clientcmd.RESTConfigFromKubeConfig(access); err != nil {
		return "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return keys, os.WriteFile(h.Kubeconfig, access, 0o600)
}

func (h *Hub) program(name string, args ...string) error {
	command := exec.Command(filepath.Join(h.options.Programs, name), args...) //nolint:gosec // of the folder that the user named
	command.Dir = h.options.Dir
	p, err := process.Start(command, filepath.Join(h.options.Dir, name+".log"))
	if err == nil {
		h.processes = append(h.processes, p)
	}
	return err
}

func (h *Hub) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("the API server is not ready after %s", readyLimit))
	defer cancel()
	client, err := rest.HTTPClientFor(h.Config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	for {
		for _, p := range h.processes {
			if p.Ended().Err() != nil {
				return context.Cause(p.Ended())
			}
		}
		if ready(ctx, client, h.Config.Host+"/readyz") {
			return nil
		}
		if hostexec.Sleep(ctx, lookEvery) != nil {
			return context.Cause(ctx)
		}
	}
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Stop ends the programs, etcd last.
func (h *Hub) Stop() {
	for n := len(h.processes) - 1; n >= 0; n-- {
		h.processes[n].Stop(stopLimit)
	}
}

// addresses returns addresses of loopback that were free a moment ago: kube-apiserver does not choose a port.
func (h *Hub) addresses() ([]*net.TCPAddr, error) {
	var list []*net.TCPAddr
	for n := range Ports {
		address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: h.options.Port + n}
		if h.options.Port == 0 {
			listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: address.IP})
			if err != nil {
				return nil, fmt.Errorf("look for a free port: %w", err)
			}
			defer listener.Close()                   //nolint:errcheck // no client has connected
			address = listener.Addr().(*net.TCPAddr) //nolint:forcetypeassert // of a TCP listener
		}
		list = append(list, address)
	}
	return list, nil
}
