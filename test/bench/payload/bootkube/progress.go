package bootkube

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/test/bench/payload/kube"
)

// What progress records: the operator of etcd takes this host's member out of etcd when it finds that.
const (
	SystemSpace  = "kube-system"
	CompleteMap  = "bootstrap"
	StatusKey    = "status"
	StatusOfDone = "complete"
)

// Progress records in the cluster that the bootstrap is complete, after bootkube. It asks the cluster by its own
// address without end: on a single node, whose API has gone until the host starts from its disk, it never returns. A
// second run after a success never returns either, since the record exists (openshift/installer,
// data/data/bootstrap/files/usr/local/bin/report-progress.sh and wait-for-ha-api.sh).
func (b *Bootkube) Progress(ctx context.Context) error {
	err := b.until(ctx, "bootkube is done", func() error {
		if !exists(filepath.Join(b.OpenShift, ".bootkube.done")) {
			return errors.New("bootkube has not left its mark")
		}
		return nil
	})
	if err != nil {
		return err
	}
	config := kube.Config(b.Host.Plan.API(), b.Host.Keys)
	err = b.until(ctx, "the cluster answers", func() error {
		if b.Host.Plan.InPlace {
			return errors.New("the API of this host has gone")
		}
		return kube.Answers(ctx, config, "/readyz")
	})
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return b.until(ctx, "the bootstrap is recorded as complete", func() error {
		_, err := client.CoreV1().ConfigMaps(SystemSpace).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: CompleteMap}, Data: map[string]string{StatusKey: StatusOfDone},
		}, metav1.CreateOptions{})
		return err
	})
}

// record makes an event of cluster-bootstrap, unless an earlier round did.
func record(ctx context.Context, client kubernetes.Interface, name string, now time.Time) error {
	events := client.CoreV1().Events(SystemSpace)
	if _, err := events.Get(ctx, name, metav1.GetOptions{}); err == nil {
		return nil
	}
	at := metav1.NewTime(now)
	_, err := events.Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: SystemSpace, Name: name}, InvolvedObject: corev1.ObjectReference{Namespace: SystemSpace},
		Type: corev1.EventTypeNormal, Reason: name, Message: "cluster-bootstrap of the bench", Count: 1, FirstTimestamp: at, LastTimestamp: at,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return nil
}
