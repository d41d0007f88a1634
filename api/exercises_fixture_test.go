package api_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// fixture makes the objects that exercises act on, in the states they need.
type fixture struct{ *service }

// defined makes a cluster that nothing was done with.
func (w *fixture) defined() uuid.UUID { return w.cluster(nil).ID }

// at makes a cluster in a status that takes an installation to reach.
func (w *fixture) at(status model.ClusterStatus) uuid.UUID {
	id := w.defined()
	w.changeCluster(id, func(c *model.Cluster) { c.Status = status })
	return id
}

// installed makes a cluster with everything an installation leaves behind.
func (w *fixture) installed() uuid.UUID {
	id := w.at(model.ClusterInstalled)
	for _, name := range []string{
		"kubeconfig", "kubeconfig-noingress", "kubeadmin-password", "bootstrap.ign", "master.ign", "worker.ign", "metadata.json",
	} {
		w.put(id, name, []byte("apiVersion: v1\nkind: Config\nclusters: []\n"))
	}
	return id
}

func (w *fixture) put(cluster uuid.UUID, name string, content []byte) {
	w.t.Helper()
	_, err := w.blob.PutSecret(w.t.Context(), "clusters/"+cluster.String()+"/"+name, content)
	require.NoError(w.t, err)
}

// member makes a host of a cluster, with an inventory.
func (w *fixture) member(cluster uuid.UUID, status model.HostStatus) wire.Host {
	env := w.infraEnv(cluster)
	h := w.host(env.ID)
	w.changeHost(env.ID, h.ID, func(h *model.Host) { h.Status = status })
	return w.readHost(env.ID, h.ID)
}

// prepared makes a host whose Ignition was made.
func (w *fixture) prepared() wire.Host {
	h := w.member(w.defined(), model.HostInstalling)
	w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.Role = model.RoleMaster })
	w.put(h.ClusterID, "master-"+h.ID.String()+".ign", []byte(ignition))
	return h
}

// pooled makes a host without a cluster.
func (w *fixture) pooled(status model.HostStatus) wire.Host { return w.member(uuid.Nil, status) }

// boundLater makes a host that was bound to a cluster out of a pool.
func (w *fixture) boundLater(status model.HostStatus) wire.Host {
	h, cluster := w.pooled(model.HostKnownUnbound), w.defined()
	w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.ClusterID, h.Status = &cluster, status })
	return w.readHost(h.InfraEnvID, h.ID)
}

// joining makes a host that joins a cluster which exists already.
func (w *fixture) joining(status model.HostStatus) wire.Host {
	var c wire.Cluster
	w.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
		"name": "old", "api_vip_dnsname": "api.old.example.com", "openshift_cluster_id": uuid.New(),
	}).JSON(&c)
	h := w.member(c.ID, status)
	w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.Kind = model.KindAddToExistingClusterHost })
	return w.readHost(h.InfraEnvID, h.ID)
}

// with returns a path below a host.
func with(h wire.Host, rest string) string { return hostPath(h.InfraEnvID, h.ID) + rest }

// manifest adds one to a cluster.
func (w *fixture) manifest(cluster uuid.UUID) uuid.UUID {
	w.want(http.StatusCreated, http.MethodPost, clusterPath(cluster)+"/manifests", map[string]any{
		"folder": "openshift", "file_name": "a.yaml", "content": "YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnTWFwCg==",
	})
	return cluster
}

// refused has the workflow of the object refuse the command.
func refused(how func(*fixture) call) func(*fixture) call {
	return func(w *fixture) call {
		c := how(w)
		w.orchestrator.err = model.Conflictf("require another status")
		return c
	}
}

// upload makes a call with a file in a form, as logs are sent.
func upload(method, path string) call {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, _ := form.CreateFormFile("upfile", "logs.tar.gz")
	_, _ = file.Write([]byte(packed + "logs"))
	_ = form.Close()
	return call{method, path, &body, []string{"Content-Type", form.FormDataContentType()}}
}

func get(path string) call { return call{method: http.MethodGet, path: path} }

func post(path string, body any) call { return call{method: http.MethodPost, path: path, body: body} }

func put(path string, body any) call { return call{method: http.MethodPut, path: path, body: body} }

func patch(path string, body any) call { return call{method: http.MethodPatch, path: path, body: body} }

func remove(path string) call { return call{method: http.MethodDelete, path: path} }

type object = map[string]any

func now() string { return time.Now().UTC().Format(time.RFC3339) }
