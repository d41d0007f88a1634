package kube

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// manager is who the fields of what is applied belong to.
const manager = "bench-bootkube"

// pause is between two rounds.
const pause = 3 * time.Second

// Applier applies manifests until all are there.
type Applier struct {
	Config *rest.Config
	Log    *slog.Logger
	Sleep  func(context.Context, time.Duration) error
}

// Apply brings objects into the cluster. Kinds without a definition get a definition that
// takes everything, and missing namespaces are made. It tries until all objects
// are there or ctx ends.
func (a *Applier) Apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	objects = append(MissingNamespaces(objects), objects...)
	made := map[string]bool{}
	for {
		round, err := a.open()
		if err == nil {
			objects, err = a.round(ctx, round, objects, made)
		}
		if err == nil && len(objects) == 0 {
			return nil
		}
		if err != nil {
			a.Log.Warn("objects not applied yet", "left", len(objects), "reason", err)
		}
		if err := a.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("apply %d objects: %w", len(objects), err)
		}
	}
}

// round applies what it can and returns what is left, and why.
func (a *Applier) round(
	ctx context.Context,
	at *session,
	objects []*unstructured.Unstructured,
	made map[string]bool,
) ([]*unstructured.Unstructured, error) {
	for _, d := range Definitions(objects, at.knows) {
		if made[d.GetName()] {
			continue
		}
		if err := at.apply(ctx, d); err != nil {
			return objects, fmt.Errorf("define kind %s: %w", d.GetName(), err)
		}
		made[d.GetName()] = true
	}
	var left []*unstructured.Unstructured
	var last error
	for _, o := range objects {
		if err := at.apply(ctx, o); err != nil {
			left, last = append(left, o), fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if ctx.Err() != nil {
			return objects, ctx.Err()
		}
	}
	return left, last
}

// session knows the kinds of the cluster at one moment.
type session struct {
	objects dynamic.Interface
	mapper  meta.RESTMapper
}

func (a *Applier) open() (*session, error) {
	found, err := discovery.NewDiscoveryClientForConfig(a.Config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(found)
	if err != nil {
		return nil, fmt.Errorf("discover the kinds of the cluster: %w", err)
	}
	objects, err := dynamic.NewForConfig(a.Config)
	if err != nil {
		return nil, err
	}
	return &session{objects, restmapper.NewDiscoveryRESTMapper(groups)}, nil
}

func (s *session) knows(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind()
	_, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err == nil
}

func (s *session) apply(ctx context.Context, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	o = o.DeepCopy()
	var target dynamic.ResourceInterface = s.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
		target = s.objects.Resource(mapping.Resource).Namespace(o.GetNamespace())
	} else {
		o.SetNamespace("")
	}
	if spec, has := o.Object["spec"]; has && spec == nil {
		// null is no object, and definitions ask for one.
		o.Object["spec"] = map[string]any{}
	}
	options := metav1.ApplyOptions{FieldManager: manager, Force: true}
	if _, err := target.Apply(ctx, o.GetName(), o, options); err != nil {
		return err
	}
	if o.Object["status"] == nil {
		return nil
	}
	_, err = target.ApplyStatus(ctx, o.GetName(), o, options)
	return err
}
