package api_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/httpclient"
	"slipway/internal/wire"
)

// shared is an InfraEnv whose hosts bootstrap two clusters.
type shared struct {
	*local
	env      uuid.UUID
	clusters []uuid.UUID
	hosts    []uuid.UUID
}

func newShared(t *testing.T, cluster model.ClusterStatus, status model.HostStatus, stage model.Stage) *shared {
	t.Helper()
	s := &shared{local: newPerHost(t)}
	w := &fixture{s.service}
	s.env = s.infraEnv(uuid.Nil).ID
	for range 2 {
		id := w.installed()
		h := s.host(s.env)
		w.put(id, "master-"+h.ID.String()+".ign", []byte(ignition))
		s.changeCluster(id, func(c *model.Cluster) { c.Status = cluster })
		s.changeHost(s.env, h.ID, func(host *model.Host) {
			host.ClusterID, host.Bootstrap, host.Role, host.Status, host.Stage = &id, true, model.RoleMaster, status, stage
			if status == model.HostAddedToExistingCluster {
				host.Kind = model.KindAddToExistingClusterHost
			}
		})
		s.clusters, s.hosts = append(s.clusters, id), append(s.hosts, h.ID)
	}
	return s
}

// secrets lists what opens a cluster, and what its hosts are made of.
func (s *shared) secrets() []string {
	var out []string
	for i, id := range s.clusters {
		for _, name := range []string{"bootstrap.ign", "master.ign", "worker.ign", "install-config.yaml"} {
			out = append(out, clusterPath(id)+"/downloads/files?file_name="+name)
		}
		for _, name := range []string{"kubeconfig", "kubeconfig-noingress", "kubeadmin-password"} {
			out = append(out, clusterPath(id)+"/downloads/credentials?file_name="+name)
		}
		out = append(out, clusterPath(id)+"/credentials", "/v2/infra-env/"+s.env.String()+hostsOf(s.hosts[i])+"/downloads/ignition")
	}
	return out
}

// opensNothing requires that none of the secrets opens with a credential, in any place.
func (s *shared) opensNothing(credential, why string) {
	s.t.Helper()
	for _, path := range s.secrets() {
		for _, scheme := range []auth.Scheme{
			auth.SchemeAgent, auth.SchemeURL, auth.SchemeUser, auth.SchemeImage, auth.SchemeImageURL, auth.SchemeWatcher,
		} {
			r := s.closed.in(scheme, http.MethodGet, path, credential)
			require.Contains(s.t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, r.Status,
				"%s: %s with %s: %s", why, path, scheme, r.Body)
		}
	}
}

// in sends a request with a credential in the place of a scheme.
func (s *service) in(scheme auth.Scheme, method, path, credential string) reply {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+base+path, nil)
	require.NoError(s.t, err)
	scheme.Place().Set(request, credential)
	response, err := httpclient.New(s.t).Do(request)
	require.NoError(s.t, err)
	return httpclient.Read(s.t, response)
}

// take registers a host with a token; it returns the token that the answer gives.
func (s *shared) take(host uuid.UUID, credential string) string {
	s.t.Helper()
	return s.closed.want(http.StatusCreated, http.MethodPost, envPath(s.env)+"/hosts", map[string]any{"host_id": host},
		"X-Secret-Key", credential).Header.Get("Slipway-Token")
}

// Finding A1 of the second security review: with the token of one discovery image, events showed the ids of hosts, a registration
// by id gave the token of a host that was installed, and that token read bootstrap.ign, which makes cluster-admin.
func TestImagesTakeOverNoClusterOfTheirHosts(t *testing.T) {
	t.Parallel()
	const kept, given = false, true // of a host whose agent is heard
	for name, c := range map[string]struct {
		cluster model.ClusterStatus
		host    model.HostStatus
		stage   model.Stage
		token   bool // that a registration gives
	}{
		"before the installation":           {model.ClusterReady, model.HostKnown, "", kept},
		"while it is prepared":              {model.ClusterPreparingForInstallation, model.HostPreparingForInstallation, "", kept},
		"when it was prepared":              {model.ClusterPreparingForInstallation, model.HostPreparingSuccessful, "", kept},
		"when it begins":                    {model.ClusterInstalling, model.HostInstalling, "", kept},
		"while the disk is written":         {model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, kept},
		"while the host waits for others":   {model.ClusterInstalling, model.HostInstallingInProgress, model.StageWaitingForControlPlane, kept},
		"while the host reboots":            {model.ClusterInstalling, model.HostInstallingInProgress, model.StageRebooting, kept},
		"after a wrong boot order":          {model.ClusterInstalling, model.HostInstallingPendingUserAction, model.StageRebooting, kept},
		"while the cluster is finalized":    {model.ClusterFinalizing, model.HostInstalled, model.StageDone, kept},
		"after the installation":            {model.ClusterInstalled, model.HostInstalled, model.StageDone, kept},
		"after a host was added":            {model.ClusterAddingHosts, model.HostAddedToExistingCluster, model.StageDone, kept},
		"after the installation has failed": {model.ClusterError, model.HostError, model.StageWritingImageToDisk, given},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, c.cluster, c.host, c.stage)
			image := s.imageToken(s.env)
			for _, query := range []string{"infra_env_id=" + s.env.String(), "cluster_id=" + s.clusters[0].String(), ""} {
				for _, scheme := range []auth.Scheme{auth.SchemeURL, auth.SchemeAgent, auth.SchemeUser, auth.SchemeImageURL} {
					require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden},
						s.closed.in(scheme, http.MethodGet, "/v2/events?"+query, image).Status, "events, %s", scheme)
				}
			}
			s.opensNothing(image, "the image's own token")
			for _, host := range s.hosts {
				former := s.hostToken(s.env, host)
				token := s.take(host, image)
				require.Equal(t, c.token, token != "", "a token for host %s", host)
				if c.token {
					s.opensNothing(token, "the token of a registration")
					continue
				}
				// The host itself has not noticed, and is in the state it was in, unless it looked as if it had booted the wrong disk.
				if c.host != model.HostInstallingInProgress || !c.stage.LeftLiveImage() {
					found := must(s.store.Host(t.Context(), s.env, host)).Status
					require.Contains(t, []model.HostStatus{c.host, model.HostInstallingPendingUserAction}, found)
					require.False(t, found == model.HostError)
				}
				r := s.closed.want(http.StatusOK, http.MethodGet, hostPath(s.env, host)+"/instructions", nil, "X-Secret-Key", former)
				require.Equal(t, http.StatusOK, r.Status)
				require.NotEmpty(t, s.take(host, former), "who has the former token gets another")
			}
		})
	}
}

// A machine that booted again has no credential: it is registered, and its installation fails, when the agent before is not heard any
// more. The same holds for a host that waits for a decision.
func TestAMachineThatBootsAgainIsRegisteredAfterSilence(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		s := newShared(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk)
		host, image := s.hosts[0], s.imageToken(s.env)
		if waits {
			s.changeHost(s.env, host, func(h *model.Host) { h.Status, h.DecisionOpen = model.HostError, true })
		}
		before := must(s.store.Host(t.Context(), s.env, host))
		require.Empty(t, s.take(host, image), "its agent is heard")
		after := must(s.store.Host(t.Context(), s.env, host))
		require.Equal(t, []any{before.Status, before.Boot, before.TokenGeneration}, []any{after.Status, after.Boot, after.TokenGeneration})

		conn, err := pgx.Connect(t.Context(), s.database)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "update slipway.host_checkins set checked_in_at = now() - interval '4 minutes' where host_id = $1", host)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		first := s.take(host, image)
		require.Equal(t, waits, first != "", "one that is being installed fails first")
		require.Equal(t, model.HostError, must(s.store.Host(t.Context(), s.env, host)).Status)
		s.opensNothing(s.hostToken(s.env, host), "a host that failed")
	}
}

// A discovery image names every host of its InfraEnv. A machine that took the place of a host before the installation was installed in it.
func TestMachinesTakeTheNameOfAConnectedHostWhenAUserApproves(t *testing.T) {
	t.Parallel()
	s := newShared(t, model.ClusterReady, model.HostKnown, "")
	host, image := s.hosts[0], s.imageToken(s.env)
	poll := func(token string) reply {
		return s.closed.send(http.MethodGet, hostPath(s.env, host)+"/instructions", nil, "X-Secret-Key", token)
	}
	approve := func() error { return orchestrator.Acceptance{Store: s.store}.Approve(t.Context(), s.env, host) }
	unproven := func() (found []wire.Event) {
		var all []wire.Event
		s.want(http.StatusOK, http.MethodGet, "/v2/events?host_id="+host.String(), nil).JSON(&all)
		for _, e := range all {
			if e.Name == "host_registration_unproven" {
				found = append(found, e)
			}
		}
		return found
	}
	former := s.hostToken(s.env, host)
	for range 3 {
		require.Empty(t, s.take(host, image))
		require.Contains(t, poll(image).Message(http.StatusUnauthorized), "has to register again")
		require.Equal(t, http.StatusOK, poll(former).Status)
	}
	require.Len(t, unproven(), 1, "machines register again and again")
	require.Contains(t, unproven()[0].Message, "a machine at 127.0.0.1 registered as this host, and did not prove it")
	require.Contains(t, unproven()[0].Message, "slipway host approve "+host.String())

	require.NoError(t, approve())
	taken := s.take(host, image)
	require.NotEmpty(t, taken)
	require.Contains(t, poll(former).Message(http.StatusUnauthorized), "has registered again")
	require.Equal(t, http.StatusOK, poll(taken).Status)
	require.Empty(t, s.take(host, image), "one machine was approved")
	require.NoError(t, approve())
	s.changeHost(s.env, host, func(h *model.Host) { h.ApprovedUntil = h.ApprovedUntil.Add(-time.Hour) })
	require.Empty(t, s.take(host, image), "the approval has ended")

	require.NoError(t, approve())
	for _, status := range []model.HostStatus{
		model.HostPreparingForInstallation, model.HostInstallingInProgress, model.HostInstalled,
	} {
		s.changeHost(s.env, host, func(h *model.Host) { h.Status = status })
		err := approve()
		require.ErrorIs(t, err, model.ErrConflict)
		require.ErrorContains(t, err, "neither installed nor being installed, found status "+string(status))
		require.Empty(t, s.take(host, image), "an approval is for hosts in discovery: %s", status)
	}
}

func TestMachinesThatRegisterAnInstalledHostAreAskedForNothing(t *testing.T) {
	t.Parallel()
	s := newShared(t, model.ClusterInstalled, model.HostInstalled, model.StageDone)
	host, image := s.hosts[0], s.imageToken(s.env)
	require.Empty(t, s.take(host, image))
	poll := func(token string) reply {
		return s.closed.send(http.MethodGet, hostPath(s.env, host)+"/instructions", nil, "X-Secret-Key", token)
	}
	before := s.readHost(s.env, host)
	var steps wire.Steps
	poll(image).JSON(&steps)
	require.Empty(t, steps.Instructions)
	require.EqualValues(t, 60, steps.NextInstructionSeconds)
	require.Equal(t, before.CheckedInAt, s.readHost(s.env, host).CheckedInAt)
	reply := map[string]any{"step_type": "inventory", "step_id": "inventory-1", "exit_code": 0, "output": "{}"}
	s.closed.send(http.MethodPost, hostPath(s.env, host)+"/instructions", reply, "X-Secret-Key", image).Message(http.StatusUnauthorized)

	// A reset makes it a host like any other: its agent registers again, and gets a token.
	s.changeHost(s.env, host, func(h *model.Host) { h.Status, h.Stage = model.HostResetting, "" })
	require.Contains(t, poll(image).Message(http.StatusUnauthorized), "has to register again")
	token := s.take(host, image)
	require.NotEmpty(t, token)
	require.Equal(t, http.StatusOK, poll(token).Status)
	s.opensNothing(token, "a host that was reset")
}

func TestBootstrapConfigIsForItsHostUntilThatReboots(t *testing.T) {
	t.Parallel()
	for _, mode := range []auth.AgentTokens{auth.PerHost, auth.PerInfraEnv} {
		s := newShared(t, model.ClusterInstalling, model.HostKnown, "")
		s.tokens.AgentTokens = mode
		third := s.host(s.env)
		s.changeHost(s.env, third.ID, func(h *model.Host) { h.ClusterID, h.Status = &s.clusters[0], model.HostInstalling })
		token := func(host uuid.UUID) string {
			if mode == auth.PerInfraEnv {
				return s.imageToken(s.env)
			}
			return s.hostToken(s.env, host)
		}
		read := func(cluster, host uuid.UUID) int {
			return s.closed.send(http.MethodGet, clusterPath(cluster)+"/downloads/files?file_name=bootstrap.ign", nil,
				"X-Secret-Key", token(host)).Status
		}
		for _, at := range []struct {
			status model.HostStatus
			stage  model.Stage
			want   int
		}{
			{model.HostKnown, "", http.StatusForbidden},
			{model.HostPreparingForInstallation, "", http.StatusForbidden},
			{model.HostPreparingSuccessful, "", http.StatusOK},
			{model.HostInstalling, "", http.StatusOK},
			{model.HostInstallingInProgress, model.StageStartingInstallation, http.StatusOK},
			{model.HostInstallingInProgress, model.StageWaitingForBootkube, http.StatusOK},
			{model.HostInstallingInProgress, model.StageWritingImageToDisk, http.StatusOK},
			{model.HostInstallingInProgress, model.StageRebooting, http.StatusForbidden},
			{model.HostInstallingInProgress, model.StageJoined, http.StatusForbidden},
			{model.HostInstallingPendingUserAction, model.StageRebooting, http.StatusForbidden},
			{model.HostInstalled, model.StageDone, http.StatusForbidden},
			{model.HostError, model.StageWaitingForBootkube, http.StatusForbidden},
			{model.HostCancelled, "", http.StatusForbidden},
			{model.HostResetting, "", http.StatusForbidden},
			{model.HostDiscovering, "", http.StatusForbidden},
		} {
			s.changeHost(s.env, s.hosts[0], func(h *model.Host) { h.Status, h.Stage = at.status, at.stage })
			require.Equal(t, at.want, read(s.clusters[0], s.hosts[0]), "%s, %s %s", mode, at.status, at.stage)
			config := "/v2/infra-env/" + s.env.String() + hostsOf(s.hosts[0]) + "/downloads/ignition"
			require.Equal(t, at.want, s.closed.send(http.MethodGet, config, nil, "X-Secret-Key", token(s.hosts[0])).Status,
				"%s, its own config, %s %s", mode, at.status, at.stage)
			require.Equal(t, http.StatusForbidden, read(s.clusters[1], s.hosts[1]), "the other cluster's host is not installed")
			if mode == auth.PerHost {
				require.Equal(t, http.StatusForbidden, read(s.clusters[0], third.ID), "another host of the cluster")
				require.Equal(t, http.StatusNotFound, read(s.clusters[0], s.hosts[1]), "a host of another cluster")
			}
		}
		for status, want := range map[model.ClusterStatus]int{
			model.ClusterInstalling: http.StatusOK, model.ClusterFinalizing: http.StatusOK, model.ClusterInstalled: http.StatusForbidden,
		} {
			if mode == auth.PerHost {
				continue // agents never read it
			}
			s.changeCluster(s.clusters[0], func(c *model.Cluster) { c.Status = status })
			require.Equal(t, want, s.closed.send(http.MethodGet,
				clusterPath(s.clusters[0])+"/downloads/credentials?file_name=kubeconfig-noingress", nil,
				"X-Secret-Key", token(s.hosts[0])).Status, status)
		}
	}
}

// Finding A7: anyone with the address of an image got a fresh address from it, without an end, and the password of its proxy.
func TestAddressesOfImagesProlongNothing(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	e := l.infraEnv(uuid.Nil)
	_, err := l.store.UpdateInfraEnv(t.Context(), e.ID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.Proxy.HTTP = "http://squid:hunter2@192.0.2.1:3128"
		return nil
	})
	require.NoError(t, err)
	link, err := l.tokens.ImageLink(must(l.store.InfraEnv(t.Context(), e.ID)), time.Time{})
	require.NoError(t, err)
	r := l.closed.in(auth.SchemeURL, http.MethodGet, envPath(e.ID), link.Value)
	require.Equal(t, http.StatusOK, r.Status)
	require.NotContains(t, string(r.Body), "hunter2")
	require.Empty(t, r.Object()["download_url"])
	l.closed.in(auth.SchemeURL, http.MethodGet, "/v2/events?infra_env_id="+e.ID.String(), link.Value).Message(http.StatusForbidden)
	user := l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID), nil, "Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser}))
	require.NotEmpty(t, user.Object()["download_url"])

	// Scripts hold an address of the image, which ends with the address that they were fetched by.
	row := must(l.store.InfraEnv(t.Context(), e.ID))
	soon := time.Now().Add(time.Minute).Truncate(time.Second)
	short, err := l.tokens.ImageLink(row, soon)
	require.NoError(t, err)
	signed := l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files-presigned?file_name=ipxe-script", nil,
		"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})).Object()
	signedEnd, err := time.Parse(time.RFC3339, signed["expires_at"].(string)) //nolint:forcetypeassert // fails the test
	require.NoError(t, err)
	for _, kind := range []string{"", "&ipxe_script_type=boot-order-control"} {
		r := l.closed.in(auth.SchemeURL, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=ipxe-script"+kind, short.Value)
		require.Equal(t, http.StatusOK, r.Status)
		require.Equal(t, soon.UTC(), endOf(t, string(r.Body)))
	}
	r = l.closed.follow(signed["url"].(string)) //nolint:forcetypeassert // fails the test
	require.Equal(t, http.StatusOK, r.Status)
	require.False(t, endOf(t, string(r.Body)).After(signedEnd))
}

// endOf returns when the token in an iPXE script ends.
func endOf(t *testing.T, script string) time.Time {
	t.Helper()
	found := regexp.MustCompile(`(?:api_key=|bytoken/|byapikey/)([^/&?\s]+)`).FindStringSubmatch(script)
	require.NotNil(t, found, script)
	var sent jwt.RegisteredClaims
	_, _, err := jwt.NewParser().ParseUnverified(found[1], &sent)
	require.NoError(t, err)
	return sent.ExpiresAt.UTC()
}
