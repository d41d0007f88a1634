package controller

import (
	"context"
	"time"

	"slipway/internal/cluster/kubeletcsr"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Watches only make the next round come earlier; what is missed waits for the interval.

// watchSeconds is the time after which a watch is renewed, so that a silently broken connection is detected.
const watchSeconds int64 = 300

// watchRequests wakes the loop for every certificate request without an answer.
func (c *controller) watchRequests(ctx context.Context, wake chan<- struct{}) {
	c.follow(ctx, wake, c.watching.CertificatesV1().CertificateSigningRequests().Watch, func(e watch.Event) bool {
		csr, ok := e.Object.(*certv1.CertificateSigningRequest)
		return ok && e.Type == watch.Added && !kubeletcsr.Answered(csr)
	})
}

// watchNodes wakes the loop when a node appears or becomes ready or unready, but not
// for the status each kubelet sends every few minutes.
func (c *controller) watchNodes(ctx context.Context, wake chan<- struct{}) {
	known := map[string]bool{}
	c.follow(ctx, wake, c.watching.CoreV1().Nodes().Watch, func(e watch.Event) bool {
		node, ok := e.Object.(*corev1.Node)
		if !ok {
			return false
		}
		before, seen := known[node.Name]
		known[node.Name] = ready(node)
		return !seen || before != known[node.Name]
	})
}

type watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error)

// follow keeps a watch open until ctx ends and wakes the loop for interesting events.
func (c *controller) follow(ctx context.Context, wake chan<- struct{}, open watchFunc, interesting func(watch.Event) bool) {
	for ctx.Err() == nil {
		stream, err := open(ctx, metav1.ListOptions{TimeoutSeconds: new(watchSeconds)})
		if err == nil {
			for event := range stream.ResultChan() {
				if interesting(event) {
					notify(wake)
				}
			}
			stream.Stop()
		}
		// The rounds report an unreachable API; here it is only retried.
		if sleep(ctx, min(c.Interval, 5*time.Second), nil) != nil {
			return
		}
	}
}

func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // a wake-up is waiting already
	}
}
