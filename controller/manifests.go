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
	return c.applyManifests(ctx, manifests)
}

// applyManifests applies in order. The kinds are looked up anew each time: a manifest
// may define the kind of the next, which the following round then finds.
func (c *controller) applyManifests(ctx context.Context, manifests []lateManifest) error {
	found, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return fmt.Errorf("make the discovery client: %w", err)
	}
	groups, err := restmapper.GetAPIGroupResources(found)
	if err != nil {
		return fmt.Errorf("discover the kinds of the cluster: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, m := range manifests {
		objects, err := objectsIn(m.Content)
		if err != nil {
			return fmt.Errorf("read manifest %s: %w", m.Name, err)
		}
		for _, obj := range objects {
			if err := c.applyObject(ctx, mapper, obj); err != nil {
				return fmt.Errorf("apply manifest %s: %s %s: %w", m.Name, obj.GetKind(), obj.GetName(), err)
			}
		}
		c.Log.InfoContext(ctx, "manifest applied", "manifest", m.Name)
	}
	return nil
}

func (c *controller) applyObject(ctx context.Context, mapper meta.RESTMapper, obj *unstructured.Unstructured) error {
	gvk := obj.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var objects dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := obj.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		objects = c.dynamic.Resource(mapping.Resource).Namespace(namespace)
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
