package activities

import (
	"context"

	"slipway/internal/model"
)

// ValidationReport is how the validations of a cluster or host stand right before its installation.
type ValidationReport struct {
	Passed  []string `json:",omitempty"`
	Failed  []Finding
	Pending []string  `json:",omitempty"` // not known yet: the checks of the preparation decide
	Ignored []Finding `json:",omitempty"` // by the user
}

// Finding is a validation and its message.
type Finding struct{ ID, Message string }

// ValidateCluster evaluates the validations of a cluster for the last time before disks are written.
func (a *Clusters) ValidateCluster(ctx context.Context, r InstallRequest) (ValidationReport, error) {
	if err := a.Evaluation.RefreshCluster(ctx, r.ClusterID); err != nil {
		return ValidationReport{}, nonRetryable(err)
	}
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return ValidationReport{}, nonRetryable(err)
	}
	if err := r.present(c); err != nil {
		return ValidationReport{}, err
	}
	return report(c.Validations), nil
}

// ValidateHost does the same as ValidateCluster for a host: it reports what its cluster's last evaluation found.
func (a *Hosts) ValidateHost(ctx context.Context, r HostRef) (ValidationReport, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return ValidationReport{}, nonRetryable(err)
	}
	if h.ClusterID != nil {
		c, err := a.Store.Cluster(ctx, *h.ClusterID)
		if err != nil {
			return ValidationReport{}, nonRetryable(err)
		}
		if err := r.sameInstallation(c, h); err != nil {
			return ValidationReport{}, err
		}
	}
	return report(h.Validations), nil
}

func report(results []model.ValidationResult) ValidationReport {
	out := ValidationReport{Failed: []Finding{}}
	for _, v := range results {
		switch {
		case v.Status == model.ValidationSuccess:
			out.Passed = append(out.Passed, v.ID)
		case v.Ignored:
			out.Ignored = append(out.Ignored, Finding{v.ID, v.Message})
		case v.Status == model.ValidationPending:
			out.Pending = append(out.Pending, v.ID)
		case v.Status == model.ValidationFailure || v.Status == model.ValidationError:
			out.Failed = append(out.Failed, Finding{v.ID, v.Message})
		}
	}
	return out
}
