package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

// TestHostsGetTheirConfigOnlyWhileTheyAreInstalled leaves the config of an earlier installation in the store: a host that is not being
// installed must not get it.
func TestHostsGetTheirConfigOnlyWhileTheyAreInstalled(t *testing.T) {
	t.Parallel()
	w := &fixture{newService(t)}
	h := w.prepared()
	download := "/v2/infra-env/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String() + "/downloads/ignition"
	for status, want := range map[model.HostStatus]int{
		model.HostDiscovering: http.StatusConflict, model.HostKnown: http.StatusConflict, model.HostPendingForInput: http.StatusConflict,
		model.HostPreparingForInstallation: http.StatusConflict, model.HostPreparingFailed: http.StatusConflict,
		model.HostResetting: http.StatusConflict, model.HostResettingPendingUserAction: http.StatusConflict,
		model.HostReclaiming: http.StatusConflict, model.HostBinding: http.StatusConflict,
		model.HostInstalling: http.StatusOK, model.HostInstallingInProgress: http.StatusOK,
		model.HostInstallingPendingUserAction: http.StatusOK, model.HostInstalled: http.StatusOK,
		model.HostAddedToExistingCluster: http.StatusOK, model.HostError: http.StatusOK, model.HostCancelled: http.StatusOK,
	} {
		w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.Status = status })
		for _, path := range []string{download, with(h, "/ignition")} {
			r := w.send(http.MethodGet, path, nil)
			require.Equal(t, want, r.Status, "%s: %s", status, r.Body)
			if want != http.StatusOK {
				require.Contains(t, r.Reason(want), "found status "+string(status))
			}
		}
	}
}
