package discovery

import (
	"context"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// readIgnitionDownload takes whether a host gets the configuration of the cluster it is to join, and the parts of it that rules
// evaluate.
func readIgnitionDownload(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	return whenSucceeded(r, func(h *model.Host, response wire.APIVipConnectivityResponse) bool {
		servers := validation.WorkerTangServers(h)
		response.Ignition = validation.Essence(response.Ignition)
		if !differs(&h.IgnitionDownload, &response) {
			return false
		}
		if validation.WorkerTangServers(h) != servers {
			delete(h.Facts, model.Fact(wire.StepTypeTangConnectivityCheck)) // asked at the next poll
		}
		return true
	})
}

// readTang takes whether the servers of disk encryption answer, also that they did not.
func readTang(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	var response wire.TangConnectivityResponse
	problem := r.Error
	if r.ExitCode == 0 {
		var err error
		if response, err = decode[wire.TangConnectivityResponse](r); err != nil {
			return answer{}, err
		}
		problem = ""
	}
	return answer{apply: func(h *model.Host, _ *store.Tx) bool {
		changed := differs(&h.Tang, &response)
		return differs(&h.TangError, problem) || changed
	}}, nil
}
