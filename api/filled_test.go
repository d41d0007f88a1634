package api_test

import (
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// neverFilled are the properties of replies that are always empty, and why.
var neverFilled = map[string]string{
	"Cluster.ams_subscription_id":         "of a service with subscriptions",
	"Cluster.cluster_network_cidr":        "older than cluster_networks, and absent from recorded replies",
	"Cluster.cluster_network_host_prefix": "the same",
	"Cluster.machine_network_cidr":        "older than machine_networks, and absent from recorded replies",
	"Cluster.service_network_cidr":        "older than service_networks, and absent from recorded replies",
	"Cluster.image_info": "images belong to InfraEnvs; recorded replies have nothing in it " +
		"but zero times",
	"Cluster.image_info.created_at":            "the same",
	"Cluster.image_info.expires_at":            "the same",
	"Cluster.image_info.download_url":          "the same",
	"Cluster.image_info.generator_version":     "the same",
	"Cluster.image_info.size_bytes":            "the same",
	"Cluster.image_info.ssh_public_key":        "the same",
	"Cluster.image_info.static_network_config": "the same",
	"Cluster.image_info.type":                  "the same",
	"Cluster.hosts":                            "looked at one by one",
	"Host.installer_version": "the installer is a part of the agent, which reports its version; " +
		"recorded replies have none",
	"Host.deleted_at":            "hosts that were deleted are not shown",
	"InfraEnv.generator_version": "images are made when they are fetched",
	"InfraEnv.size_bytes":        "the same",
	"ClusterDefaultConfig.cluster_networks_ipv4[].cluster_id":      "networks of no cluster yet",
	"ClusterDefaultConfig.cluster_networks_dualstack[].cluster_id": "the same",
	"ClusterDefaultConfig.service_networks_ipv4[].cluster_id":      "the same",
	"ClusterDefaultConfig.service_networks_dualstack[].cluster_id": "the same",
	"ClusterDefaultConfig.ntp_source":                              "no source is asked of everybody, and recorded replies have none",
}

// properties remembers which properties of the wire there are, and which were filled.
type properties map[string]bool

// add looks at a value of the wire, and at its fields and items.
func (p properties) add(path string, value reflect.Value) {
	t := value.Type()
	if _, known := p[path]; !known && path != t.Name() {
		p[path] = false
	}
	if !value.IsZero() && t.Kind() != reflect.Slice && path != t.Name() {
		p[path] = true
	}
	switch {
	case t == reflect.TypeFor[wire.DateTime](), t == reflect.TypeFor[uuid.UUID]():
	case t.Kind() == reflect.Pointer:
		if !value.IsNil() {
			p.add(path, value.Elem())
		}
	case t.Kind() == reflect.Slice && t.Elem() != reflect.TypeFor[wire.Host]():
		p[path] = p[path] || value.Len() > 0
		if t.Elem().Kind() == reflect.Struct {
			p.add(path+"[]", reflect.Zero(t.Elem()))
		}
		for i := range value.Len() {
			p.add(path+"[]", value.Index(i))
		}
	case t.Kind() == reflect.Slice:
		p[path] = false
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			p.add(path+"."+name, value.Field(i))
		}
	}
}

func see[T any](p properties, r reply) {
	var into T
	r.JSON(&into)
	value := reflect.ValueOf(into)
	if value.Kind() == reflect.Slice {
		for i := range value.Len() {
			p.add(value.Type().Elem().Name(), value.Index(i))
		}
		return
	}
	p.add(value.Type().Name(), value)
}

// fill puts something into every field of a model that is kept in its document.
func fill(value reflect.Value) {
	switch value.Interface().(type) {
	case time.Time:
		value.Set(reflect.ValueOf(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)))
		return
	case netip.Addr:
		value.Set(reflect.ValueOf(netip.MustParseAddr("192.0.2.1")))
		return
	case netip.Prefix:
		value.Set(reflect.ValueOf(netip.MustParsePrefix("192.0.2.0/24")))
		return
	case uuid.UUID:
		value.Set(reflect.ValueOf(uuid.New()))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString("1")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Float64:
		value.SetFloat(7)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem())
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0))
	case reflect.Map:
		key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(key)
		fill(item)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, item)
	case reflect.Struct:
		for i := range value.NumField() {
			if field := value.Type().Field(i); field.Tag.Get("json") != "-" && field.IsExported() {
				fill(value.Field(i))
			}
		}
	}
}

// TestEveryPropertyOfRepliesIsFilledBySomething reads a cluster, a host and an
// InfraEnv about which everything is known.
func TestEveryPropertyOfRepliesIsFilledBySomething(t *testing.T) {
	t.Parallel()
	w, seen := &fixture{newService(t)}, properties{}
	for _, only := range []bool{true, false} {
		w.seeCluster(seen, only)
		w.seeInfraEnv(seen, only)
	}
	gone := w.defined()
	w.want(http.StatusNoContent, http.MethodDelete, clusterPath(gone), nil)
	see[wire.Cluster](seen, w.want(http.StatusOK, http.MethodGet, clusterPath(gone), nil, "get_unregistered_clusters", "true"))
	installed := clusterPath(w.installed())
	see[wire.Credentials](seen, w.want(http.StatusOK, http.MethodGet, installed+"/credentials", nil))
	see[wire.PresignedURL](
		seen,
		w.want(http.StatusOK, http.MethodGet, installed+"/downloads/credentials-presigned?file_name=kubeconfig", nil),
	)
	see[wire.ClusterDefaultConfig](seen, w.want(http.StatusOK, http.MethodGet, "/v2/clusters/default-config", nil))
	for path, filled := range seen {
		_, never := neverFilled[path]
		assert.NotEqual(t, filled, never, "%s: filled %t, said to be never filled %t", path, filled, never)
	}
	for path := range neverFilled {
		require.Contains(t, seen, path)
	}
	require.Greater(t, len(seen), 200)
}

// seeCluster reads a cluster whose sources of time take the place of the hosts' sources, or not.
func (w *fixture) seeCluster(seen properties, only bool) {
	c := w.cluster(map[string]any{
		"operator_bundles": []any{map[string]any{"id": "openshift-ai", "optional_operators": []string{"nvidia-gpu"}}},
		"olm_operators":    []any{map[string]any{"name": "mtv", "properties": "{}"}},
	})
	w.manifest(c.ID)
	ready := w.member(c.ID, model.HostKnown)
	h := w.member(c.ID, model.HostInstalling)
	for _, body := range []object{
		{"name": "lso", "status": "available", "version": "1.0", "status_info": "a"},
		{"name": "nvidia-gpu", "status": "available", "version": "1.0", "status_info": "a"},
	} {
		w.send(http.MethodPut, clusterPath(c.ID)+"/monitored-operators", body)
	}
	w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) {
		inventory := h.Inventory
		fill(reflect.ValueOf(h).Elem())
		fill(reflect.ValueOf(&h.Connectivity).Elem())
		h.Inventory, h.SkipFormattingDisks = inventory, []string{"wwn-0x2"}
		h.Bootstrap, h.Stage, h.Role = true, model.StageWritingImageToDisk, model.RoleMaster
		h.Fencing, h.IgnitionEndpointToken = &model.FencingCredentials{Address: "https://bmc"}, "token"
	})
	w.changeCluster(c.ID, func(c *model.Cluster) {
		operators, bundles := c.OLMOperators, c.OperatorBundles
		fill(reflect.ValueOf(c).Elem())
		c.NTPSourcesOnly, c.UserName, c.OLMOperators, c.OperatorBundles = only, "ann@example.com", operators, bundles
	})
	w.changeHost(ready.InfraEnvID, ready.ID, func(h *model.Host) { h.Status = model.HostKnown })
	see[wire.Cluster](seen, w.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil))
	w.want(http.StatusOK, http.MethodGet, hostPath(h.InfraEnvID, h.ID)+"/instructions?timestamp=1795192113", nil)
	see[wire.Host](seen, w.want(http.StatusOK, http.MethodGet, hostPath(h.InfraEnvID, h.ID), nil))
	see[[]wire.Event](seen, w.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String(), nil))
	see[[]wire.Manifest](seen, w.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/manifests", nil))
}

// seeInfraEnv reads an InfraEnv in a mode whose addresses end.
func (w *fixture) seeInfraEnv(seen properties, only bool) {
	l := newLocal(w.t.(*testing.T), auth.ModeLocal)
	id := l.infraEnv(l.cluster(nil).ID).ID
	_, err := l.store.UpdateInfraEnv(w.t.Context(), id, func(e *model.InfraEnv, _ *store.Tx) error {
		fill(reflect.ValueOf(e).Elem())
		e.NTPSourcesOnly, e.UserName, e.DiscoveryDelay = only, "ann@example.com", time.Second
		return nil
	})
	require.NoError(w.t, err)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
	see[wire.InfraEnv](seen, l.closed.want(http.StatusOK, http.MethodGet, envPath(id), nil, user...))
	see[wire.PresignedURL](seen, l.closed.want(http.StatusOK, http.MethodGet, envPath(id)+"/downloads/image-url", nil, user...))
}
