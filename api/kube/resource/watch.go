package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ChangedByOthers reports whether users have changed a spec, removed an object, paused it or given it a command, or whether it is a resync.
// A controller's own writes of labels, annotations and the status are no reason to ask the service again.
func ChangedByOthers(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.GetResourceVersion() == after.GetResourceVersion() || before.GetGeneration() != after.GetGeneration() ||
		Paused(before) != Paused(after) || Command(after) != "" && Command(after) != Command(before)
}

// Requests lists the objects of a kind that which selects. It returns none before the cache is filled: each is reconciled then.
func Requests[T kube.Object](
	ctx context.Context, c kube.Reader, list kube.ObjectList, which func(T) bool, options ...kube.ListOption,
) (found []reconcile.Request) {
	if err := c.List(ctx, list, options...); err != nil {
		return nil
	}
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		if item, fits := o.(T); fits && which(item) {
			found = append(found, reconcile.Request{NamespacedName: kube.ObjectKeyFromObject(item)})
		}
		return nil
	})
	return found
}
