package answers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// views lists all views of a host.
func views() (list []answers.HostView) {
	for n := range 16 {
		list = append(list, answers.HostView{SingleNode: n&1 > 0, Inventory: n&2 > 0, Connectivity: n&4 > 0, Secrets: n&8 > 0})
	}
	return list
}

// columns returns a host as the database returns it beside its kept text: nothing of its document.
func columns(h *model.Host) *model.Host {
	return &model.Host{
		ID: h.ID, InfraEnvID: h.InfraEnvID, Kind: h.Kind, Role: h.Role, Bootstrap: h.Bootstrap, CheckedInAt: h.CheckedInAt,
		Timestamp: h.Timestamp, Connectivity: h.Connectivity, Fencing: h.Fencing,
		InstallerArgs: h.InstallerArgs, IgnitionConfigOverrides: h.IgnitionConfigOverrides,
	}
}

// requireSame compares the text of a host with a rendering of all of it, as clients do: fields have no order.
func requireSame(t *testing.T, h *model.Host, view answers.HostView) {
	t.Helper()
	kept, inventory := answers.KeepHost(h)
	whole, err := answers.AppendHost([]byte("before"), columns(h), kept, inventory, view)
	require.NoError(t, err)
	text, appended := strings.CutPrefix(string(whole), "before")
	require.True(t, appended)
	fresh, err := json.Marshal(answers.Host(h, view))
	require.NoError(t, err)
	require.Equal(t, tree(t, fresh), tree(t, []byte(text)), "%+v", view)
}

// tree reads an object; a field that is there twice fails.
func tree(t *testing.T, text []byte) map[string]json.RawMessage {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	_, err := decoder.Token()
	require.NoError(t, err)
	out := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		require.NotContains(t, out, name)
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		out[name.(string)] = value
	}
	return out
}

func TestKeptTextsEqualRenderings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		h := &model.Host{}
		random(rand.New(rand.NewPCG(seed, 1)), reflect.ValueOf(h).Elem())
		if seed%7 == 0 {
			h.Inventory = nil
		}
		h.DeletedAt = time.Time{} // deleted hosts are not listed
		h.Connectivity = nil
		if seed%3 > 0 {
			h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{{
				HostID:         uuid.New(),
				L3Connectivity: []wire.L3Connectivity{{OutgoingNic: "eth0", RemoteIPAddress: "10.0.0.2", Successful: true}},
			}}})
		}
		for _, view := range views() {
			requireSame(t, h, view)
		}
	}
	for _, view := range views() {
		requireSame(t, &model.Host{}, view)
	}
}

func TestKeptTextsOfClustersEqualRenderings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		c, view := &model.Cluster{}, answers.ClusterView{}
		random(r, reflect.ValueOf(c).Elem())
		random(r, reflect.ValueOf(&view).Elem())
		if seed%5 == 0 {
			c.Proxy.HTTP, c.InstallConfigOverride = "http://user:word@proxy.example:3128", `{"password":"word","fips":true}`
			c.IgnitionEndpoint.URL = "https://user:word@ignition.example"
		}
		for i := range view.Operators { // some of the cluster's own
			if i < len(c.OLMOperators) {
				view.Operators[i].Name = c.OLMOperators[i].Name
			}
		}
		for _, secrets := range []bool{false, true} {
			view.Secrets = secrets
			fresh, err := answers.AppendCluster(nil, c, nil, view)
			require.NoError(t, err)
			kept := answers.KeepCluster(c)
			beside := &model.Cluster{ID: c.ID, InstallConfigOverride: c.InstallConfigOverride, Proxy: c.Proxy}
			if seed%5 == 0 {
				require.Empty(t, kept)
				beside = c
			}
			text, err := answers.AppendCluster([]byte("before"), beside, kept, view)
			require.NoError(t, err)
			require.Equal(t, tree(t, fresh), tree(t, text[len("before"):]))
			require.Equal(t, c.SingleNode(), beside.SingleNode())
			require.NotContains(t, tree(t, fresh), "hosts")
			for name, value := range tree(t, []byte(wire.Text(answers.Cluster(c, view)))) {
				require.True(t, name == "hosts" || string(value) == string(tree(t, fresh)[name]), name)
			}
		}
	}
}

// Finds nothing in a kept text that is sealed in its row.
func TestKeptTextsHaveNothingThatIsSealed(t *testing.T) {
	t.Parallel()
	const canary = "canary-5d1f"
	h := &model.Host{
		IgnitionConfigOverrides: canary, InstallerArgs: []string{"--append-karg", "name" + canary + "=" + canary},
		Fencing:               &model.FencingCredentials{Address: canary, Username: canary, Password: canary, MACAddress: canary},
		IgnitionEndpointToken: canary, IgnitionEndpointHeaders: map[string]model.Secret{canary: canary},
	}
	for _, columnsAlone := range []bool{false, true} {
		kept, inventory := answers.KeepHost(h)
		shown := h
		if columnsAlone {
			shown = &model.Host{}
		}
		text, err := answers.AppendHost(nil, shown, kept, inventory, answers.HostView{Inventory: true, Secrets: true})
		require.NoError(t, err)
		require.Equal(t, !columnsAlone, strings.Contains(string(text), canary), "%s", text)
	}
}

func TestKeptTextsOfClustersHaveNothingThatIsSealed(t *testing.T) {
	t.Parallel()
	const canary = "canary-5d1f"
	c := &model.Cluster{
		PullSecret: canary, InstallConfigOverride: `{"name":"` + canary + `"}`, UISettings: canary,
		Proxy:            model.Proxy{HTTP: "http://a:" + canary + "@proxy.example", HTTPS: "http://a:" + canary + "@proxy.example"},
		IgnitionEndpoint: model.IgnitionEndpoint{URL: "https://ignition.example/" + canary[:6]},
	}
	text, err := answers.AppendCluster(nil, &model.Cluster{}, answers.KeepCluster(c), answers.ClusterView{Secrets: true})
	require.NoError(t, err)
	require.NotContains(t, string(text), canary)
	require.Contains(t, string(text), canary[:6])
	c.IgnitionEndpoint.URL = "https://a:" + canary + "@ignition.example"
	require.Empty(t, answers.KeepCluster(c))
}

func TestDamagedTextsAreErrors(t *testing.T) {
	t.Parallel()
	ofCluster := answers.KeepCluster(&model.Cluster{})
	for n := 1; n < len(ofCluster); n++ {
		_, err := answers.AppendCluster(nil, &model.Cluster{}, ofCluster[:n], answers.ClusterView{})
		require.ErrorContains(t, err, "damaged", "%d of %d bytes", n, len(ofCluster))
	}
	text, inventory := answers.KeepHost(&model.Host{Inventory: &wire.Inventory{Hostname: "a"}})
	for n := 1; n < len(text); n++ {
		_, err := answers.AppendHost(nil, &model.Host{}, text[:n], inventory, answers.Whole)
		require.ErrorContains(t, err, "damaged", "%d of %d bytes", n, len(text))
	}
	for n := 1; n < len(inventory); n++ {
		_, err := answers.AppendHost(nil, &model.Host{}, text, inventory[:n], answers.Whole)
		require.ErrorContains(t, err, "damaged", "%d of %d bytes", n, len(inventory))
	}
	_, err := answers.AppendHost(nil, &model.Host{}, []byte("\xff\xff\xff"), nil, answers.Whole)
	require.ErrorContains(t, err, "damaged")
}

// Guards databases that services of two versions share: whoever changes how hosts or clusters look raises KeptForm, and then this sum.
func TestKeptTextsKeepTheirForm(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for seed := range uint64(50) {
		h := &model.Host{}
		random(rand.New(rand.NewPCG(seed, 2)), reflect.ValueOf(h).Elem())
		kept, inventory := answers.KeepHost(h)
		text, err := answers.AppendHost(nil, &model.Host{}, kept, inventory, answers.HostView{Inventory: true})
		require.NoError(t, err)
		sum.Write(text)
		c := &model.Cluster{}
		random(rand.New(rand.NewPCG(seed, 4)), reflect.ValueOf(c).Elem())
		text, err = answers.AppendCluster(nil, &model.Cluster{}, answers.KeepCluster(c), answers.ClusterView{})
		require.NoError(t, err)
		sum.Write(text)
	}
	require.Equal(t, "form 1: 05e175228faf6d75", "form 1: "+hex.EncodeToString(sum.Sum(nil))[:16],
		"hosts or clusters look another way: raise answers.KeptForm (now %d), and write the new sum here", answers.KeptForm)
}

// alphabet has what JSON escapes, and what it does not.
var alphabet = []rune("abcXYZ019 -_./:=,\"\\<>&\n\t\u2028\u00e9\U0001F600{}[]")

// random fills a value.
func random(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[model.Facts](): // not shown
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()))
		return
	case reflect.TypeFor[wire.DateTime]():
		v.Set(reflect.ValueOf(wire.DateTime(time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC())))
		return
	case reflect.TypeFor[netip.Addr]():
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), 0, 1})))
		return
	case reflect.TypeFor[netip.Prefix]():
		v.Set(reflect.ValueOf(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), 0, 0}), 24)))
		return
	case reflect.TypeFor[model.Role]():
		v.Set(reflect.ValueOf([]model.Role{model.RoleAutoAssign, model.RoleMaster, model.RoleWorker, model.RoleArbiter}[r.IntN(4)]))
		return
	case reflect.TypeFor[model.HostKind]():
		v.Set(reflect.ValueOf([]model.HostKind{model.KindHost, model.KindAddToExistingClusterHost}[r.IntN(2)]))
		return
	}
	randomKind(r, v)
}

func randomKind(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		text := make([]rune, r.IntN(12))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		v.SetString(string(text))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(1 << 30)))
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(r.Float64() * 100)
	case reflect.Pointer:
		if r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(r, v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			random(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(4) {
			name, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			random(r, name)
			random(r, value)
			v.SetMapIndex(name, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			random(r, v.Field(i))
		}
	case reflect.Interface: // values that any JSON may have
		v.Set(reflect.ValueOf("x"))
	default:
		panic("require a value of " + v.Type().String())
	}
}
