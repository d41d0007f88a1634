package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"slipway/internal/model"
)

// lateManifestsFile holds the manifests to apply once the operators run
// (docs/reference/controller.md, "Late manifests").
const lateManifestsFile = "custom_manifests.json"

// lateManifest is an entry of that file; Content is base64 in JSON.
type lateManifest struct {
	Name    string
	Content []byte
}

func (ApplyManifests) do(ctx context.Context, c *controller) error {
	file, err := c.Service.ClusterFile(ctx, c.ClusterID, lateManifestsFile)
	if errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrNotBuilt) { // there are none
		return nil
	}
	if err != nil {
		return fmt.Errorf("fetch the late manifests: %w", err)
	}
	var manifests []lateManifest
	if len(bytes.TrimSpace(file)) > 0 {
		if err := json.Unmarshal(file, &manifests); err != nil {
			return fmt.Errorf("read the late manifests: %w", err)
		}
	}
	if len(manifests) == 0 {
		return nil
	}
	config, err := c.admin(ctx)
	if err != nil {
		return err
	}
	apply, err := newApplier(config)
	if err != nil {
		return err
	}
	return c.applyManifests(ctx, apply, manifests)
}

// applier applies objects of any kind. The kinds are looked up anew each time: a manifest
// may define the kind of the next, which the following round then finds.
type applier struct {
	mapper  meta.RESTMapper
	objects dynamic.Interface
}

func newApplier(config *rest.Config) (*applier, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of the administrator: %w", err)
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the discovery client: %w", err)
	}
	groups, err := restmapper.GetAPIGroupResources(found)
	if err != nil {
		return nil, fmt.Errorf("discover the kinds of the cluster: %w", err)
	}
	return &applier{mapper: restmapper.NewDiscoveryRESTMapper(groups), objects: objects}, nil
}

// applyManifests applies in order what was not applied yet. One that cannot be applied does not keep the others from
// it; it is reported and tried again.
func (c *controller) applyManifests(ctx context.Context, apply *applier, manifests []lateManifest) error {
	var failed []error
	for _, m := range manifests {
		objects, err := objectsIn(m.Content)
		if err != nil {
			failed = append(failed, fmt.Errorf("read manifest %s: %w", m.Name, err))
			c.reportManifest(ctx, m.Name, err)
			continue
		}
		for i, obj := range objects {
			key := fmt.Sprintf("%s#%d", m.Name, i)
			if c.applied[key] {
				continue
			}
			if err := apply.object(ctx, obj); err != nil {
				what := fmt.Sprintf("%s %s of manifest %s", obj.GetKind(), obj.GetName(), m.Name)
				failed = append(failed, fmt.Errorf("apply %s: %w", what, err))
				c.reportManifest(ctx, what, err)
				continue
			}
			c.applied[key] = true
			c.Log.InfoContext(ctx, "manifest applied", "manifest", m.Name, "kind", obj.GetKind(), "name", obj.GetName())
		}
	}
	return errors.Join(failed...)
}

// reportManifest shows the user, once for each reason, what cannot be applied.
func (c *controller) reportManifest(ctx context.Context, what string, reason error) {
	c.sendOnce(ctx, notice{
		name: "late_manifest_not_applied", about: what, message: fmt.Sprintf("%s cannot be applied yet: %s", what, reason), warning: true,
	})
}

func (a *applier) object(ctx context.Context, obj *unstructured.Unstructured) error {
	gvk := obj.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var objects dynamic.ResourceInterface = a.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := obj.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		objects = a.objects.Resource(mapping.Resource).Namespace(namespace)
	}
	_, err = objects.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: component, Force: true})
	return err
}

// objectsIn reads the documents of a manifest, YAML or JSON, lists taken apart.
func objectsIn(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		obj := &unstructured.Unstructured{}
		err := documents.Decode(&obj.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(obj.Object) == 0: // an empty document
		case obj.IsList():
			err = obj.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, err
			}
		default:
			objects = append(objects, obj)
		}
	}
}
