package kubeapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watch streams the changes after the asked resource version. Without one, and with
// sendInitialEvents, the present objects come first as ADDED; sendInitialEvents ends
// them with a bookmark.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, to target, selected selector) {
	query := r.URL.Query()
	ctx := r.Context()
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := &watcher{to: to, selected: selected, encoder: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}

	version, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	initial := query.Get("sendInitialEvents") == "true"
	if initial || err != nil || version == 0 {
		version = out.present(s.store, initial)
	}
	out.follow(ctx, s.store, version)
}

type watcher struct {
	to       target
	selected selector
	encoder  *json.Encoder
	flush    func() error
	err      error // the caller went away
}

func (w *watcher) send(kind watch.EventType, obj any) {
	if w.err == nil {
		w.err = w.encoder.Encode(map[string]any{"type": kind, "object": obj})
	}
}

// present sends all objects there are and returns the version they are of.
func (w *watcher) present(s *store, bookmark bool) uint64 {
	objects, version := s.list(w.to.res, w.to.namespace)
	for _, obj := range objects {
		if w.matches(obj) {
			w.send(watch.Added, obj)
		}
	}
	if bookmark {
		w.send(watch.Bookmark, map[string]any{
			"apiVersion": w.to.res.GroupVersion().String(),
			"kind":       w.to.res.Kind,
			"metadata": map[string]any{
				"resourceVersion": strconv.FormatUint(version, 10),
				"annotations":     map[string]any{metav1.InitialEventsAnnotationKey: "true"},
			},
		})
	}
	return version
}

// follow sends changes as they come, until ctx ends or the caller goes away.
func (w *watcher) follow(ctx context.Context, s *store, version uint64) {
	for {
		changes, reached, changed, ok := s.since(w.to.res, version)
		if !ok {
			w.send(watch.Error, statusOf(apierrors.NewResourceExpired("require a newer resource version")))
			return
		}
		for _, c := range changes {
			if w.matches(c.Object) {
				w.send(c.Type, c.Object)
			}
		}
		version = reached
		if w.err == nil {
			w.err = w.flush()
		}
		if w.err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

func (w *watcher) matches(obj object) bool {
	return (w.to.namespace == "" || obj.GetNamespace() == w.to.namespace) && w.selected.matches(obj)
}
