package kube

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object builds an object.
func Object(apiVersion, kind, namespace, name string, more map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for k, v := range more {
		o[k] = v
	}
	return &unstructured.Unstructured{Object: o}
}

// MissingNamespaces makes the namespaces that objects are in and that are not among them.
func MissingNamespaces(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	made := map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}
	for _, o := range objects {
		if o.GetKind() == "Namespace" {
			made[o.GetName()] = true
		}
	}
	var missing []*unstructured.Unstructured
	for _, o := range objects {
		if name := o.GetNamespace(); name != "" && !made[name] {
			made[name] = true
			missing = append(missing, Object("v1", "Namespace", "", name, nil))
		}
	}
	return missing
}

// Definitions makes custom resource definitions for the kinds of objects that the cluster does not know and
// that no definition among the objects brings. They take everything.
func Definitions(objects []*unstructured.Unstructured, known func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	kinds := map[schema.GroupKind][]*unstructured.Unstructured{}
	var order []schema.GroupKind
	for _, o := range objects {
		kind := o.GroupVersionKind().GroupKind()
		if !strings.Contains(kind.Group, ".") || known(o) ||
			slices.ContainsFunc(objects, func(d *unstructured.Unstructured) bool { return defines(d, kind) }) {
			continue
		}
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		kinds[kind] = append(kinds[kind], o)
	}
	definitions := make([]*unstructured.Unstructured, 0, len(order))
	for _, kind := range order {
		definitions = append(definitions, definition(kind, kinds[kind]))
	}
	return definitions
}

func defines(d *unstructured.Unstructured, kind schema.GroupKind) bool {
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	return d.GetKind() == "CustomResourceDefinition" && group == kind.Group && name == kind.Kind
}

func definition(kind schema.GroupKind, objects []*unstructured.Unstructured) *unstructured.Unstructured {
	scope := "Cluster"
	var versions []any
	var seen []string
	for _, o := range objects {
		if o.GetNamespace() != "" {
			scope = "Namespaced"
		}
		version := o.GroupVersionKind().Version
		if slices.Contains(seen, version) {
			continue
		}
		seen = append(seen, version)
		versions = append(versions, map[string]any{
			"name": version, "served": true, "storage": len(seen) == 1,
			"schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			},
			"subresources": map[string]any{"status": map[string]any{}},
		})
	}
	plural := Plural(kind.Kind)
	return Object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt.Sprintf("%s.%s", plural, kind.Group), map[string]any{
		"spec": map[string]any{
			"group": kind.Group, "scope": scope, "versions": versions,
			"names": map[string]any{
				"kind":     kind.Kind,
				"listKind": kind.Kind + "List",
				"plural":   plural,
				"singular": strings.ToLower(kind.Kind),
			},
		},
	})
}

// Plural guesses how a kind is called in paths.
func Plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		return name + "es"
	case strings.HasSuffix(name, "y") && !strings.ContainsAny(name[len(name)-2:len(name)-1], "aeiou"):
		return name[:len(name)-1] + "ies"
	}
	return name + "s"
}
