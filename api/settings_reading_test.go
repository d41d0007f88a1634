package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/wire"
)

// settled is a cluster with an InfraEnv and hosts.
type settled struct {
	*service
	cluster, env uuid.UUID
	hosts        []uuid.UUID
	imported     bool
}

func (x *settled) register(masters, workers int) {
	for n := range masters + workers {
		id, role := uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", n+1)), "master"
		if n >= masters {
			role = "worker"
		}
		x.want(http.StatusCreated, http.MethodPost, envPath(x.env)+"/hosts", map[string]any{"host_id": id})
		x.changeHost(x.env, id, func(h *model.Host) {
			h.AgentSteps, h.Inventory, h.Role = model.FineSteps, machine(n, role), model.Role(role)
		})
		x.hosts = append(x.hosts, id)
	}
}

func machine(n int, role string) *wire.Inventory {
	return &wire.Inventory{
		Hostname: fmt.Sprintf("%s-%d", role, n), CPU: wire.CPU{Count: 8, Architecture: "x86_64"},
		Memory: wire.Memory{PhysicalBytes: 32 << 30, UsableBytes: 32 << 30},
		Disks:  []wire.Disk{disk("wwn-0x1", "sda", true), disk("wwn-0x2", "sdb", false), disk("wwn-0x3", "sdc", true)},
		Interfaces: []wire.Interface{{
			Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:01:%02d", n), HasCarrier: true, Type: "physical",
			Ipv4Addresses: []string{fmt.Sprintf("192.0.2.%d/24", 10+n)},
		}},
		Routes: []wire.Route{{Family: 2, Interface: "eth0", Destination: "0.0.0.0", Gateway: "192.0.2.1", Metric: 100}},
	}
}

// places reads all places. The contents of files in Ignition are readable in them.
func (x *settled) places() places {
	x.t.Helper()
	p := places{}
	x.readDownloads(p)
	x.readCluster(p)
	x.prepare()
	x.readSteps(p)
	x.readFiles(p)
	for place, text := range p {
		p[place] = dataURL.ReplaceAllStringFunc(text, func(found string) string {
			u, err := dataurl.DecodeString(found)
			require.NoError(x.t, err)
			return string(u.Data)
		})
	}
	return p
}

// dataURL is the content of a file in JSON and YAML.
var dataURL = regexp.MustCompile(`data:[^"\s]*,[^"\s]*`)

func (x *settled) readDownloads(p places) {
	x.t.Helper()
	file := envPath(x.env) + "/downloads/files?file_name="
	p[toDiscovery] = string(x.want(http.StatusOK, http.MethodGet, file+"discovery.ign&discovery_iso_type=full-iso", nil).Body)
	p[toBoot] = string(x.want(http.StatusOK, http.MethodGet, file+"ipxe-script", nil).Body)
	p[toImage] = string(x.want(http.StatusOK, http.MethodGet, envPath(x.env)+"/downloads/image-url", nil).Body)
}

func (x *settled) readCluster(p places) {
	x.t.Helper()
	c := x.service.readCluster(x.cluster)
	p[toValidation] = c.ValidationsInfo
	for _, h := range c.Hosts {
		p[toValidation] += fmt.Sprintln(h.ID, h.ValidationsInfo)
		p[toMembers] += fmt.Sprintln(h.ID, h.Role)
	}
}

// prepare puts the cluster into the state in which files are made and hosts get their steps.
func (x *settled) prepare() {
	x.t.Helper()
	if x.imported {
		return
	}
	x.changeCluster(x.cluster, func(c *model.Cluster) { c.Status, c.InstallAttempt = model.ClusterPreparingForInstallation, 1 })
	for i, id := range x.hosts {
		x.changeHost(x.env, id, func(h *model.Host) {
			h.Status, h.Bootstrap, h.Role = model.HostPreparingForInstallation, i == 0, h.EffectiveRole()
		})
	}
}

func (x *settled) readSteps(p places) {
	x.t.Helper()
	c, err := x.store.Cluster(x.t.Context(), x.cluster)
	require.NoError(x.t, err)
	args := &activities.StepArgs{Store: x.store, Dummy: true, BootArtifacts: func(*model.InfraEnv) (duesteps.BootArtifacts, error) {
		return duesteps.BootArtifacts{}, nil
	}}
	for _, id := range x.hosts {
		h, err := x.store.Host(x.t.Context(), x.env, id)
		require.NoError(x.t, err)
		for _, step := range steps.All() {
			got, err := args.StepArgs(x.t.Context(), string(step.Type), c, h)
			p[toSteps] += fmt.Sprintln(id, step.Type, got, err)
		}
	}
}

func (x *settled) readFiles(p places) {
	x.t.Helper()
	files := &activities.Files{Store: x.store, Blob: x.blob, Dummy: true}
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.RegisterActivity(files)
	if x.imported {
		_, err := env.ExecuteActivity(files.GenerateHostIgnition, activities.HostRef{
			ClusterID: x.cluster, InfraEnvID: x.env, HostID: x.hosts[len(x.hosts)-1],
		})
		require.NoError(x.t, err)
	} else {
		_, err := env.ExecuteActivity(files.GenerateIgnition, activities.InstallRequest{ClusterID: x.cluster, Attempt: 1})
		require.NoError(x.t, err)
	}
	folder := blob.ClusterFolder(x.cluster)
	all, err := x.blob.List(x.t.Context(), folder)
	require.NoError(x.t, err)
	for _, o := range all {
		data, err := x.blob.Get(x.t.Context(), o.Key)
		require.NoError(x.t, err)
		switch name := strings.TrimPrefix(o.Key, folder+"/"); {
		case name == "install-config.yaml":
			p[toInstaller] = string(data)
		case strings.HasPrefix(name, "generated/"):
			p[toManifests] += name + "\n" + string(data)
		case strings.HasSuffix(name, ".ign"):
			p[toIgnition] += name + "\n" + string(data)
		}
	}
}
