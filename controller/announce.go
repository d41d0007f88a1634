package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReadyEvent is the name and the reason of the event the bootstrap host waits for
// (docs/reference/installer.md, "The controller's announcement").
const ReadyEvent = "AssistedControllerIsReady"

const component = "assisted-installer-controller"

func (Announce) do(ctx context.Context, c *controller) error {
	err := c.createEvent(ctx, c.event(ReadyEvent, ReadyEvent, "the controller reaches the service and the cluster"))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create event %s: %w", ReadyEvent, err)
	}
	c.Log.InfoContext(ctx, "controller announced", "event", ReadyEvent)
	return nil
}

func (c *controller) event(name, reason, message string) *corev1.Event {
	now := metav1.NewTime(c.Now())
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: "Job", Name: component, Namespace: c.Namespace,
		},
		Type: corev1.EventTypeNormal, Reason: reason, Message: message, Count: 1,
		FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
	}
}

// createEvent creates an event and, where the controller runs outside of the cluster
// and nothing has made it yet, the namespace.
func (c *controller) createEvent(ctx context.Context, event *corev1.Event) error {
	events := c.kube.CoreV1().Events(c.Namespace)
	_, err := events.Create(ctx, event, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
	_, err = c.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = events.Create(ctx, event, metav1.CreateOptions{})
	return err
}
