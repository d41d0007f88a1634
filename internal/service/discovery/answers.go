package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// virtualNIC is the type of interfaces that are no hardware of their own
// (docs/reference/agent-protocol.md, "Inventory").
const virtualNIC = "device"

// whenSucceeded reads the output of a step that succeeded; the output of a failed one is ignored.
func whenSucceeded[T any](r wire.StepReply, apply func(h *model.Host, value T) (changed bool)) (answer, error) {
	if r.ExitCode != 0 {
		return answer{}, nil
	}
	value, err := decode[T](r)
	if err != nil {
		return answer{}, err
	}
	return answer{apply: func(h *model.Host, _ *store.Tx) bool { return apply(h, value) }}, nil
}

// differs stores a value and reports whether it changed. Values are compared as
// they are stored: an empty list and none are the same.
func differs[T any](at *T, value T) bool {
	before, err := json.Marshal(*at)
	after, errAfter := json.Marshal(value)
	if err == nil && errAfter == nil && bytes.Equal(before, after) {
		return false
	}
	*at = value
	return true
}

func readInventory(ctx context.Context, s *Service, from sender, r wire.StepReply) (answer, error) {
	if r.ExitCode != 0 {
		return answer{}, nil
	}
	inv, err := decode[wire.Inventory](r)
	if err != nil {
		return answer{}, err
	}
	by, err := s.evaluation.CriteriaFor(ctx, from.infraEnvID, from.hostID)
	if err != nil {
		return answer{}, err
	}
	if !s.options.KeepVirtualNICs {
		inv.Interfaces = slices.DeleteFunc(inv.Interfaces, func(n wire.Interface) bool { return n.Type == virtualNIC })
	}
	hardware.SetDiskIDs(&inv)
	return answer{apply: func(h *model.Host, t *store.Tx) bool {
		moved := !reflect.DeepEqual(hardware.NICs(h.Inventory), hardware.NICs(&inv))
		s.evaluation.EvaluateDisks(h, &inv, by)
		if !differs(&h.Inventory, &inv) {
			return false
		}
		hardware.ChooseInstallationDisk(h)
		if moved && h.ClusterID != nil && !lifecycle.Silent.Has(h.Status) {
			t.HostsChanged(*h.ClusterID)
		}
		return true
	}}, nil
}

func readConnectivity(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	return whenSucceeded(r, func(h *model.Host, report wire.ConnectivityReport) bool {
		return differs(&h.Connectivity, model.PackConnectivity(report))
	})
}

func readFreeAddresses(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	if silent(r) {
		return answer{nothing: true}, nil
	}
	return whenSucceeded(r, func(h *model.Host, free wire.FreeNetworksAddresses) bool {
		return differs(&h.FreeAddresses, free)
	})
}

func readNTP(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	return whenSucceeded(r, func(h *model.Host, ntp wire.NtpSynchronizationResponse) bool {
		return differs(&h.NTPSources, ntp.NtpSources)
	})
}

func readDomains(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	return whenSucceeded(r, func(h *model.Host, domains wire.DomainResolutionResponse) bool {
		return differs(&h.DomainResolution, &domains)
	})
}

func readVIPs(_ context.Context, s *Service, _ sender, r wire.StepReply) (answer, error) {
	if r.ExitCode != 0 {
		return answer{}, nil
	}
	verified, err := decode[wire.VerifyVipsResponse](r)
	if err != nil {
		return answer{}, err
	}
	for _, v := range verified {
		if _, err := netip.ParseAddr(v.Vip); err != nil {
			return answer{}, model.Invalidf("require a virtual address, found %q", v.Vip)
		}
		if !v.Verification.Valid() {
			return answer{}, model.Invalidf("require the verification of %s to be succeeded, failed or unverified, found %q", v.Vip, v.Verification)
		}
		if !v.VipType.Valid() {
			return answer{}, model.Invalidf("require the type of %s to be api or ingress, found %q", v.Vip, v.VipType)
		}
	}
	return answer{cluster: func(ctx context.Context, id uuid.UUID) error { return s.vipsVerified(ctx, id, verified) }}, nil
}

// vipsVerified stores whether the virtual addresses are free, as long as no
// installation has put them to use.
func (s *Service) vipsVerified(ctx context.Context, clusterID uuid.UUID, verified wire.VerifyVipsResponse) error {
	_, err := s.store.UpdateCluster(ctx, clusterID, func(c *model.Cluster, t *store.Tx) error {
		if !lifecycle.BeforeInstallation.Has(c.Status) {
			return nil
		}
		changed := false
		for _, v := range verified {
			vips := c.APIVIPs
			if v.VipType == wire.Ingress {
				vips = c.IngressVIPs
			}
			for i := range vips {
				if vips[i].IP == netip.MustParseAddr(v.Vip).Unmap() {
					changed = differs(&vips[i].Verification, string(v.Verification)) || changed
				}
			}
		}
		if changed {
			t.RefreshCluster(c.ID)
		}
		return nil
	})
	return err
}
