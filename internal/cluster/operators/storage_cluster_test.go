package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

const (
	storageCluster = "StorageCluster/ocs-storagecluster"
	storageSystem  = "StorageSystem/ocs-storagecluster-storagesystem"
)

// everyTopology holds whichever nodes store.
var everyTopology = []field{
	{storageCluster, "metadata.namespace", "openshift-storage"},
	{storageCluster, "spec.labelSelector", `{matchExpressions: [{key: node-role.kubernetes.io/worker, operator: In, values: [""]}]}`},
	{storageCluster, "spec.manageNodes", "false"},
	{storageCluster, "spec.flexibleScaling", "true"},
	{storageCluster, "spec.monDataDirHostPath", "/var/lib/rook"},
	{storageCluster, "spec.storageDeviceSets.0.name", "ocs-deviceset"},
	{storageCluster, "spec.storageDeviceSets.0.replica", "1"},
	{storageCluster, "spec.storageDeviceSets.0.portable", "false"},
	{storageCluster, "spec.storageDeviceSets.0.dataPVCTemplate.spec", `
{accessModes: [ReadWriteOnce], volumeMode: Block, storageClassName: localblock-sc, resources: {requests: {storage: "1"}}}`},
	{storageCluster, "spec.storageDeviceSets.0.placement", placement("rook-ceph-osd")},
	{storageCluster, "spec.storageDeviceSets.0.preparePlacement", placement("rook-ceph-osd-prepare")},
}

func placement(app string) string {
	return `
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms: [{matchExpressions: [{key: node-role.kubernetes.io/worker, operator: Exists}]}]
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 100
    podAffinityTerm:
      topologyKey: kubernetes.io/hostname
      labelSelector: {matchExpressions: [{key: app, operator: In, values: [` + app + `]}]}`
}

var noResources = []field{{storageCluster, "spec.resources", ""}, {storageCluster, "spec.storageDeviceSets.0.resources", ""}}

// lessResources fit hosts that just meet the requirements of a compact cluster.
var lessResources = []field{
	{storageCluster, "spec.resources", `
mds: {limits: {cpu: "3", memory: 8Gi}, requests: {cpu: "1", memory: 8Gi}}
rgw: {limits: {cpu: "2", memory: 4Gi}, requests: {cpu: "1", memory: 4Gi}}`},
	{storageCluster, "spec.storageDeviceSets.0.resources", `{limits: {cpu: "2", memory: 5Gi}, requests: {cpu: "1", memory: 5Gi}}`},
}

func TestStorageClusterOfTopologies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*fixture)
		count  string
		extra  []field
	}{
		{"stores on workers", func(*fixture) {}, "3", noResources},
		{"stores on a compact control plane", (*fixture).compact, "3", lessResources},
		{"counts the disks of uneven hosts", func(w *fixture) {
			addDisk(w.hosts[5], "c", 50e9)
			addDisk(w.hosts[5], "d", 50e9)
			addDisk(w.hosts[5], "e", 50e9)
		}, "6", noResources},
		{"counts disks on more than three workers", func(w *fixture) {
			w.hosts = append(w.hosts, newHost(6, model.RoleWorker))
		}, "4", noResources},
		{"leaves out disks that are too small", func(w *fixture) { addDisk(w.hosts[4], "c", 24e9) }, "3", noResources},
		{"leaves out the control plane where workers are", func(w *fixture) { addDisk(w.hosts[0], "c", 50e9) }, "3", noResources},
		{"leaves out an arbiter, which no OSD runs on", (*fixture).compactArbitered, "2", lessResources},
		{"stores on workers beside an arbiter", (*fixture).arbitered, "3", noResources},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			tt.change(w)
			w.choose("odf")
			_, late := render(t, w)
			requireFields(t, late, everyTopology)
			requireFields(t, late, tt.extra)
			requireFields(t, late, []field{{storageCluster, "spec.storageDeviceSets.0.count", tt.count}, {storageSystem, "-", ""}})
		})
	}
}

func addDisk(h *model.Host, name string, size int) {
	h.Inventory.Disks = append(h.Inventory.Disks, newDisk(name, size))
}

func TestStorageSystemBefore419(t *testing.T) {
	t.Parallel()
	for version, has := range map[string]bool{"4.18.20": true, "4.19.0-ec.2": false, "4.20.1": false} {
		w := newWorld().version(version)
		w.choose("odf")
		_, late := render(t, w)
		if !has {
			require.NotContains(t, late, storageSystem, version)
			continue
		}
		requireFields(t, late, []field{
			{storageSystem, "apiVersion", "odf.openshift.io/v1alpha1"},
			{storageSystem, "metadata.namespace", "openshift-storage"},
			{storageSystem, "spec", "{kind: storagecluster.ocs.openshift.io/v1, name: ocs-storagecluster, namespace: openshift-storage}"},
		})
	}
}
