package api_test

import (
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// Places that settings are for: what hosts, the installer and the new cluster get.
const (
	toInstaller  = "install-config"
	toManifests  = "manifests"   // of the service, with their names
	toIgnition   = "ignition"    // of the bootstrap host, of roles and of hosts
	toDiscovery  = "discovery"   // discovery.ign of a full image
	toBoot       = "boot"        // the script for a boot from the network
	toImage      = "image"       // the address of the discovery image
	toSteps      = "steps"       // arguments of steps of hosts
	toValidation = "validations" // of cluster and hosts
	toMembers    = "members"     // hosts of the cluster and their roles
)

type places map[string]string

// setting is a field of a request, a value for it, and a text of each place that the value leads to. The text is not there without it.
type setting struct {
	field   string
	value   any
	reaches reach
}

// reach is a text for each place.
type reach map[string]string

// TestEverySettingReachesItsPlace sets each field that the document's requests have, when the object is created and afterwards.
func TestEverySettingReachesItsPlace(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	fields := settableFields(t)
	left := fields.copy()
	for name, sc := range scenes(t) {
		left.remove(sc)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sc.options()...)
			plain := sc.places(s, fields, "")
			for _, way := range []string{http.MethodPost, http.MethodPatch} {
				found := sc.places(s, fields, way)
				for _, x := range slices.Concat(sc.cluster, sc.infraEnv, sc.host) {
					require.NotEmpty(t, x.reaches, x.field)
					for place, text := range x.reaches {
						assert.Contains(t, found[place], text, "%s, %s: %s does not reach it", place, way, x.field)
						assert.NotContains(t, plain[place], text, "%s: the text of %s is always there", place, x.field)
					}
				}
			}
		})
	}
	checked, exempt := 0, 0
	for request, names := range fields {
		checked, exempt = checked+len(names)-len(left[request]), exempt+len(left[request])
		for field := range left[request] {
			reason := noPlace[request+" "+field]
			require.NotEmpty(t, reason, "%s of %s is in no scene", field, request)
			t.Logf("exempt: %s of %s: %s", field, request, reason)
		}
	}
	t.Logf("%d fields of requests checked, %d exempt", checked, exempt)
	require.Len(t, noPlace, exempt, "a field without a place has one, or does not exist any more")
}

// requests are the fields of requests, by the name of their schema.
type requests map[string]map[string]bool

func (r requests) copy() requests {
	out := requests{}
	for name, fields := range r {
		out[name] = maps.Clone(fields)
	}
	return out
}

// remove takes the fields of a scene away.
func (r requests) remove(sc scene) {
	for _, x := range sc.cluster {
		delete(r[newCluster], x.field)
		delete(r[changedCluster], x.field)
	}
	for _, x := range sc.infraEnv {
		delete(r[newInfraEnv], x.field)
		delete(r[changedInfraEnv], x.field)
	}
	for _, x := range sc.host {
		delete(r[changedHost], x.field)
	}
}

// settableFields reads the requests that users set something with from the document.
func settableFields(t *testing.T) requests {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	require.NoError(t, err)
	out := requests{}
	for _, name := range []string{newCluster, changedCluster, newInfraEnv, changedInfraEnv, changedHost} {
		out[name] = map[string]bool{}
		for field := range doc.Components.Schemas[name].Value.Properties {
			out[name][field] = true
		}
	}
	return out
}

// Requests that users set something with.
const (
	newCluster      = "cluster-create-params"
	changedCluster  = "v2-cluster-update-params"
	newInfraEnv     = "infra-env-create-params"
	changedInfraEnv = "infra-env-update-params"
	changedHost     = "host-update-params"
)

// split divides settings into the fields of a creation and of a change afterwards. With POST each field that the creation has is in it,
// with PATCH each field that the change has; without a way there are none.
func (r requests) split(all []setting, way, creation, change string) (create, update map[string]any) {
	create, update = map[string]any{}, map[string]any{}
	for _, x := range all {
		switch {
		case way == "":
		case r[creation][x.field] && (way == http.MethodPost || !r[change][x.field]):
			create[x.field] = x.value
		default:
			update[x.field] = x.value
		}
	}
	return create, update
}

func (sc scene) options() []func(*api.Options) {
	if sc.service == nil {
		return nil
	}
	return []func(*api.Options){sc.service}
}

// bothArchitectures sets up a service with agents of two architectures.
func bothArchitectures(o *api.Options) {
	o.AgentBinaries = fs.FS(fstest.MapFS{
		"slipway-agent-x86_64": {Data: []byte("agent program")}, "slipway-agent-arm64": {Data: []byte("agent program")},
	})
}

// places makes the scene with its settings and reads all places.
func (sc scene) places(s *service, r requests, way string) places {
	x := &settled{service: s, imported: sc.imported}
	creation := newCluster
	if sc.imported {
		creation = "" // an import has other fields
	}
	create, change := r.split(sc.cluster, way, creation, changedCluster)
	fields := withAddresses(sc.required)
	maps.Copy(fields, create)
	if sc.imported {
		x.cluster = s.imported().ID
	} else {
		x.cluster = s.cluster(fields).ID
	}
	createEnv, changeEnv := r.split(sc.infraEnv, way, newInfraEnv, changedInfraEnv)
	body := map[string]any{"name": "env", "pull_secret": pullSecret, "cluster_id": x.cluster}
	maps.Copy(body, createEnv)
	var e wire.InfraEnv
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).JSON(&e)
	x.env = e.ID
	x.register(sc.masters, sc.workers)
	if len(change) > 0 {
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(x.cluster), change)
	}
	if len(changeEnv) > 0 {
		s.want(http.StatusCreated, http.MethodPatch, envPath(x.env), changeEnv)
	}
	if _, ofHost := r.split(sc.host, way, "", changedHost); len(ofHost) > 0 {
		s.want(http.StatusCreated, http.MethodPatch, hostPath(x.env, x.hosts[len(x.hosts)-1]), ofHost)
	}
	return x.places()
}
