package resource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/internal/model"
)

// CommandAnnotation has the name of a command to the service, such as retry. It is removed when the service has accepted or refused the
// command; an event says which.
const CommandAnnotation = "slipway.dev/command"

// Commands are the commands that a kind of resource has, by their names.
type Commands map[string]func(ctx context.Context) error

// Command returns the command that a resource is given; empty: none.
func Command(o kube.Object) string { return o.GetAnnotations()[CommandAnnotation] }

// Obey sends the command of a resource to the service. A process that is killed sends it once more, and the service refuses what has been
// decided. Its error is a service that does not answer: the command stays.
func Obey(ctx context.Context, c kube.Client, recorder events.EventRecorder, o kube.Object, commands Commands) error {
	name := Command(o)
	if name == "" {
		return nil
	}
	var err error
	switch send := commands[name]; {
	case len(commands) == 0:
		err = &InputError{errors.New("the service does not have it yet")}
	case send == nil:
		known := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
		err = &InputError{fmt.Errorf("annotation %s: require one of %s, found %q", CommandAnnotation, known, name)}
	default:
		err = send(ctx)
	}
	if err != nil && !IsInput(err) && !errors.Is(err, model.ErrNotFound) {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := o.DeepCopyObject().(kube.Object) //nolint:forcetypeassert // a copy of an object is one
	annotations := maps.Clone(o.GetAnnotations())
	delete(annotations, CommandAnnotation)
	o.SetAnnotations(annotations)
	if err := c.Patch(ctx, o, kube.MergeFrom(before)); err != nil {
		return kube.IgnoreNotFound(err)
	}
	if err != nil {
		recorder.Eventf(o, nil, corev1.EventTypeWarning, "CommandRefused", "Command", "%s: %v", name, err)
		return nil
	}
	recorder.Eventf(o, nil, corev1.EventTypeNormal, "CommandAccepted", "Command", "%s: accepted", name)
	return nil
}
