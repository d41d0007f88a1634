package sim

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
)

// serveConfigs keeps the log of a machine config server of the masters, which serves workers once the bootstrap host has handed over: one
// line a request (openshift/machine-config-operator, pkg/server/api.go; daemon set machine-config-server, label k8s-app). What masters
// asked is in the log of the bootstrap host's server.
func (c *Cluster) serveConfigs(ctx context.Context, api string) error {
	kube, err := kubernetes.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return fmt.Errorf("make the client of the machine config server: %w", err)
	}
	pods := kube.CoreV1().Pods("openshift-machine-config-operator")
	written := ""
	for {
		if log := c.requests(); log != written {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "machine-config-server-sim", Labels: map[string]string{"k8s-app": "machine-config-server"},
				Annotations: map[string]string{kubeapi.LogAnnotation: log},
			}}
			_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
			}
			if err == nil {
				written = log
			}
		}
		if err := c.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
}

// requests returns the log, each line with its time as a kubelet keeps it.
func (c *Cluster) requests() string {
	if !c.options.Site.HandedOver() {
		return ""
	}
	var lines strings.Builder
	fetches := c.options.Site.Fetches()
	for _, address := range slices.SortedFunc(maps.Keys(fetches), netip.Addr.Compare) {
		pool, at := fetches[address], c.options.Site.LastFetch(address).UTC()
		if pool != string(model.RoleWorker) {
			continue
		}
		fmt.Fprintf(&lines, "%s I%s       1 api.go:137] Pool %q requested by address:%q User-Agent:\"Ignition/2.20.0\" "+
			"Accept-Header: \"application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1\"\n",
			at.Format(time.RFC3339Nano), at.Format("0102 15:04:05.000000"), pool, address.String()+":40520")
	}
	return lines.String()
}
