package kubeapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
)

func (s *Server) serveCollection(w http.ResponseWriter, r *http.Request, to target) {
	switch r.Method {
	case http.MethodGet:
		selected, err := selectorOf(r)
		if err != nil {
			replyError(w, err)
			return
		}
		if r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1" {
			s.watch(w, r, to, selected)
			return
		}
		s.list(w, to, selected)
	case http.MethodPost:
		obj, err := s.create(r, to)
		respond(w, http.StatusCreated, obj, err)
	case http.MethodDelete:
		s.deleteAll(w, r, to)
	default:
		replyError(w, apierrors.NewMethodNotSupported(to.res.groupResource(), r.Method))
	}
}

// deleteAll deletes the objects of a collection that are selected.
func (s *Server) deleteAll(w http.ResponseWriter, r *http.Request, to target) {
	selected, err := selectorOf(r)
	if err != nil {
		replyError(w, err)
		return
	}
	objects, _ := s.store.list(to.res, to.namespace)
	for _, obj := range objects {
		if selected.matches(obj) {
			_, _ = s.store.delete(ref{to.res, obj.GetNamespace(), obj.GetName()}, metav1.Preconditions{}) // gone already: as wanted
		}
	}
	s.list(w, to, selected)
}

func (s *Server) serveObject(w http.ResponseWriter, r *http.Request, to target) {
	var obj object
	var err error
	switch r.Method {
	case http.MethodGet:
		if to.res.Kind == "Pod" && to.subresource == "log" {
			s.serveLog(w, to, r.URL.Query().Get("timestamps") == "true")
			return
		}
		obj, err = s.store.get(to.ref)
	case http.MethodPut:
		obj, err = s.replace(r, to)
	case http.MethodPatch:
		obj, err = s.patch(r, to)
	case http.MethodDelete:
		var only metav1.Preconditions
		if only, err = readPreconditions(r); err == nil {
			obj, err = s.store.delete(to.ref, only)
		}
	default:
		err = apierrors.NewMethodNotSupported(to.res.groupResource(), r.Method)
	}
	respond(w, http.StatusOK, obj, err)
}

// LogAnnotation holds the log of a pod. Lines may begin with their time, RFC 3339; others are as old as the pod.
const LogAnnotation = "simulated.slipway/log"

// serveLog answers with a log; times are there for who asks for them (Kubernetes API, PodLogOptions).
func (s *Server) serveLog(w http.ResponseWriter, to target, times bool) {
	pod, err := s.store.get(to.ref)
	if err != nil {
		replyError(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	for line := range strings.Lines(pod.GetAnnotations()[LogAnnotation]) {
		at, text, _ := strings.Cut(line, " ")
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			at, text = pod.GetCreationTimestamp().UTC().Format(time.RFC3339Nano), line
		}
		if times {
			text = at + " " + text
		}
		fmt.Fprint(w, text)
	}
}

func respond(w http.ResponseWriter, code int, obj object, err error) {
	if err != nil {
		replyError(w, err)
		return
	}
	reply(w, code, obj)
}

func (s *Server) list(w http.ResponseWriter, to target, selected selector) {
	objects, version := s.store.list(to.res, to.namespace)
	items := make([]any, 0, len(objects))
	for _, obj := range objects {
		if selected.matches(obj) {
			items = append(items, obj.Object)
		}
	}
	reply(w, http.StatusOK, map[string]any{
		"apiVersion": to.res.GroupVersion().String(),
		"kind":       to.res.Kind + "List",
		"metadata":   map[string]any{"resourceVersion": strconv.FormatUint(version, 10)},
		"items":      items,
	})
}

func (s *Server) create(r *http.Request, to target) (object, error) {
	obj, err := readObject(r)
	if err != nil {
		return nil, err
	}
	to.name = obj.GetName()
	if to.name == "" && obj.GetGenerateName() != "" {
		to.name = obj.GetGenerateName() + rand.String(5)
	}
	if to.name == "" {
		return nil, apierrors.NewBadRequest("require metadata.name or metadata.generateName")
	}
	if to.res.namespaced && to.namespace == "" {
		// The list of all namespaces takes no objects (kubernetes/kubernetes, staging/src/k8s.io/apiserver/pkg/endpoints/installer.go).
		return nil, apierrors.NewMethodNotSupported(to.res.groupResource(), r.Method)
	}
	if to.res.hasStatus {
		unstructured.RemoveNestedField(obj.Object, "status")
	}
	if to.res.Kind == csrKind {
		stampRequester(r, obj)
	}
	return s.store.create(to.ref, obj)
}

func (s *Server) replace(r *http.Request, to target) (object, error) {
	sent, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if to.res.Kind == csrKind && to.subresource == "approval" {
		current, err := s.store.get(to.ref)
		if err == nil {
			err = s.approve(r, current)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.write(to, func(object) (object, error) { return sent, nil })
}

// write changes an object to what sent gives, or the part of it the subresource stands for.
func (s *Server) write(to target, sent func(current object) (object, error)) (object, error) {
	return s.store.update(to.ref, func(current object) (object, error) {
		body, err := sent(current)
		if err != nil {
			return nil, err
		}
		next, err := merged(to, current, body)
		if err != nil || to.res.Kind != csrKind {
			return next, err
		}
		return s.signer.settle(next)
	})
}

// merged returns the object after body was written to the main resource or a subresource: the main resource leaves the status alone, a
// subresource leaves all but the status alone.
func merged(to target, current, body object) (object, error) {
	switch {
	case to.subresource == "" && !to.res.hasStatus:
		return body.DeepCopy(), nil
	case to.subresource == "":
		next := body.DeepCopy()
		return next, copyField(current, next, "status")
	case to.subresource == "status" && to.res.hasStatus:
		next := current.DeepCopy()
		next.SetResourceVersion(body.GetResourceVersion())
		return next, copyField(body, next, "status")
	case to.subresource == "approval" && to.res.Kind == csrKind:
		next := current.DeepCopy()
		next.SetResourceVersion(body.GetResourceVersion())
		return next, copyField(body, next, "status", "conditions")
	}
	return nil, apierrors.NewNotFound(to.res.groupResource(), to.name+"/"+to.subresource)
}

func copyField(from, into object, path ...string) error {
	value, found, err := unstructured.NestedFieldCopy(from.Object, path...)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if !found {
		unstructured.RemoveNestedField(into.Object, path...)
		return nil
	}
	if err := unstructured.SetNestedField(into.Object, value, path...); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}
