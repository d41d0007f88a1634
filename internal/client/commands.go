package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// PauseCluster pauses a running installation: every host finishes its stage and waits.
func (c *Client) PauseCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "pause", options)
}

// ResumeCluster resumes a paused installation.
func (c *Client) ResumeCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "resume", options)
}

// ExtendCluster extends the timeout of an installation whose finalizing timed out.
func (c *Client) ExtendCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "extend", options)
}

// UndeleteCluster brings a deleted cluster back, until it is purged.
func (c *Client) UndeleteCluster(ctx context.Context, id uuid.UUID, options ...Option) (cluster wire.Cluster, err error) {
	err = c.do(ctx, call{
		method: http.MethodPost, own: true, path: ownVersion(clusterPath(id)) + "/undelete", ok: http.StatusOK, into: &cluster,
	}, options)
	return cluster, err
}

// DeletedClusters lists the deleted clusters that can be brought back, newest deletion first.
func (c *Client) DeletedClusters(ctx context.Context, options ...Option) (clusters []wire.DeletedCluster, err error) {
	err = c.do(ctx, call{method: http.MethodGet, own: true, path: "/v1/deleted-clusters", ok: http.StatusOK, into: &clusters}, options)
	return clusters, err
}

// BootArtifacts returns the addresses of what machines of an InfraEnv boot from over the network.
func (c *Client) BootArtifacts(ctx context.Context, id uuid.UUID, options ...Option) (found wire.BootArtifacts, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: "/v1/infra-envs/" + id.String() + "/boot-artifacts", ok: http.StatusOK, into: &found,
	}, options)
	return found, err
}

// Usage returns how many bytes are kept from the hosts of an InfraEnv.
func (c *Client) Usage(ctx context.Context, id uuid.UUID, options ...Option) (found wire.KeptBytes, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: "/v1/infra-envs/" + id.String() + "/usage", ok: http.StatusOK, into: &found,
	}, options)
	return found, err
}

// Installations lists a page of clusters without their hosts, newest first.
func (c *Client) Installations(ctx context.Context, limit, offset int, options ...Option) (page wire.Installations, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: "/v1/installations", ok: http.StatusOK, into: &page,
		query: url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}},
	}, options)
	return page, err
}

// Timeline returns a page of what happened in a cluster: of its events and of its hosts.
func (c *Client) Timeline(
	ctx context.Context, id uuid.UUID, eventsOffset, hostsOffset int, options ...Option,
) (found wire.Timeline, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: ownVersion(clusterPath(id)) + "/timeline", ok: http.StatusOK, into: &found,
		query: url.Values{"events_offset": {strconv.Itoa(eventsOffset)}, "hosts_offset": {strconv.Itoa(hostsOffset)}},
	}, options)
	return found, err
}

// KubeObjects lists the clusters and InfraEnvs that resources of Kubernetes define.
func (c *Client) KubeObjects(ctx context.Context, options ...Option) (objects []wire.KubeObject, err error) {
	err = c.do(ctx, call{method: http.MethodGet, own: true, path: "/v1/kube-objects", ok: http.StatusOK, into: &objects}, options)
	return objects, err
}

// Changes returns which objects changed after a cursor, and the cursor to continue with; without a cursor, only where the feed ends now.
// When nothing changed it waits, at most for a minute. It returns a model.ErrGone for a cursor that is too old: the caller lists its
// objects again.
func (c *Client) Changes(ctx context.Context, after string, wait time.Duration, options ...Option) (changes wire.Changes, err error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: "/v1/changes", query: query, wait: wait, ok: http.StatusOK, into: &changes,
	}, options)
	return changes, err
}

// OnFailure reads what the installation of a cluster does when a host fails.
func (c *Client) OnFailure(ctx context.Context, id uuid.UUID, options ...Option) (policy wire.OnFailure, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: ownVersion(clusterPath(id)) + "/on-failure", ok: http.StatusOK, into: &policy,
	}, options)
	return policy, err
}

// SetOnFailure sets it, for installations that begin later.
func (c *Client) SetOnFailure(
	ctx context.Context, id uuid.UUID, policy wire.OnFailure, options ...Option,
) (kept wire.OnFailure, err error) {
	err = c.do(ctx, call{
		method: http.MethodPut, own: true, path: ownVersion(clusterPath(id)) + "/on-failure", body: policy, ok: http.StatusOK, into: &kept,
	}, options)
	return kept, err
}

// ClusterRelease reads the release that the installation of a cluster uses, and who signed it.
func (c *Client) ClusterRelease(ctx context.Context, id uuid.UUID, options ...Option) (release wire.ClusterRelease, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: ownVersion(clusterPath(id)) + "/release", ok: http.StatusOK, into: &release,
	}, options)
	return release, err
}

// RetryHost retries a failed host, from its first stage.
func (c *Client) RetryHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "retry", options)
}

// RetryHostStep retries the stage that a host failed in.
func (c *Client) RetryHostStep(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "retry-step", options)
}

// EvictHost continues the installation without a failed host.
func (c *Client) EvictHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "evict", options)
}

// ReclaimHost removes a host from its cluster and returns it to its InfraEnv; an installed host boots the
// discovery image, which it downloads.
func (c *Client) ReclaimHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "reclaim", options)
}

// ApproveHost lets the next machine that registers as a host take its place, once and within an hour, without proof.
func (c *Client) ApproveHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "approve", options)
}

// Workflow returns the state of the workflow of a running installation; a model.ErrNotFound means that none
// runs.
func (c *Client) Workflow(ctx context.Context, clusterID uuid.UUID, options ...Option) (*wire.WorkflowState, error) {
	var state wire.WorkflowState
	err := c.do(ctx, call{
		method: http.MethodGet, own: true, path: ownVersion(clusterPath(clusterID)) + "/workflow", ok: http.StatusOK, into: &state,
	}, options)
	if err != nil {
		return nil, err
	}
	return &state, nil
}

func (c *Client) command(ctx context.Context, object, name string, options []Option) error {
	return c.do(ctx, call{
		method: http.MethodPost, own: true, path: ownVersion(object) + "/commands/" + name, ok: http.StatusAccepted,
	}, options)
}

// ownVersion returns the path of an object in Slipway's own API: /v1 in place of /v2.
func ownVersion(path string) string { return "/v1" + strings.TrimPrefix(path, "/v2") }
