package resource

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/agentinstall"
	"slipway/internal/cluster/registries"
)

// Keys of a ConfigMap with mirrors (openshift/assisted-service, docs/user-guide/mirror_registry).
const (
	registriesConfKey = "registries.conf"
	mirrorBundleKey   = "ca-bundle.crt"
)

// Mirrors say where images are pulled from instead.
type Mirrors struct {
	// RegistriesConf is a containers-registries.conf(5) of version 2, Registries its content.
	RegistriesConf string
	Registries     []registries.Registry
	// Bundle has the certificates of the mirrors, PEM; it may be empty.
	Bundle string
}

// Mirrors reads the ConfigMap that spec.mirrorRegistryRef names; nil: the spec names none. A missing or wrong one is an InputError.
func (r References) Mirrors(ctx context.Context, ref *agentinstall.ObjectReference) (*Mirrors, error) {
	if ref == nil {
		return nil, nil
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	found, err := r.ConfigMap(ctx, key)
	if err != nil {
		return nil, err
	}
	m, err := ReadMirrors(found.Data)
	if err != nil {
		return nil, &InputError{fmt.Errorf("ConfigMap %s: %w", key, err)}
	}
	return m, nil
}

// ReadMirrors reads the data of a ConfigMap with mirrors.
func ReadMirrors(data map[string]string) (*Mirrors, error) {
	m := &Mirrors{RegistriesConf: data[registriesConfKey], Bundle: data[mirrorBundleKey]}
	if m.RegistriesConf == "" {
		return nil, fmt.Errorf("require %s, found none", registriesConfKey)
	}
	var err error
	if m.Registries, err = registries.Parse(m.RegistriesConf); err != nil {
		return nil, err
	}
	for n, r := range m.Registries {
		for _, l := range r.Mirrors {
			if r.Source() == "" || l.Location == "" {
				return nil, fmt.Errorf("%s: require locations of registry %d and its mirrors, found none", registriesConfKey, n+1)
			}
		}
	}
	return m, nil
}

// NamesConfigMap reports whether a reference is to a ConfigMap.
func NamesConfigMap(ref *agentinstall.ObjectReference, namespace, name string) bool {
	return ref != nil && ref.Namespace == namespace && ref.Name == name
}
