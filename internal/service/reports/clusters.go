package reports

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Clusters records what the controller of a cluster reports. It is safe for concurrent use.
type Clusters struct {
	Store *store.Store
	Blob  *blob.Store
	// Silence is how long a controller may stay silent after the last fact of an installed cluster; zero: without a limit.
	Silence time.Duration
}

// FinalizingProgress records the finalizing stage the controller reports.
func (r Clusters) FinalizingProgress(ctx context.Context, id uuid.UUID, stage model.FinalizingStage) error {
	at := slices.Index(model.FinalizingStages, stage)
	if at < 0 {
		return model.Invalidf("require a finalizing stage of the API, found %q", stage)
	}
	return transitions.UpdateCluster(ctx, r.Store, id, func(c *model.Cluster, tx *store.Tx) error {
		if c.Progress.FinalizingStage == stage {
			return nil
		}
		c.Progress.FinalizingStage, c.Progress.FinalizingStageStartedAt = stage, tx.Now()
		c.Progress.FinalizingStageTimedOut = false
		c.Progress.Finalizing = max(c.Progress.Finalizing, (at+1)*100/len(model.FinalizingStages))
		total(c)
		tx.MilestonesReached(id, leftBefore(at))
		about := lifecycle.AboutCluster(c)
		tx.Event(events.New(events.ClusterFinalizingStageUpdated, about, events.Props{"finalizing_stage": string(stage)}, tx.Now()))
		return nil
	})
}

// leftBefore lists the milestones of the stages before a stage.
func leftBefore(at int) []model.Milestone {
	left := []model.Milestone{model.MilestoneLeft("")}
	for _, stage := range model.FinalizingStages[:at] {
		left = append(left, model.MilestoneLeft(stage))
	}
	return left
}

// total weighs the phases as the API's clients know them: 10, 70 and 20 percent.
func total(c *model.Cluster) {
	c.Progress.Total = (c.Progress.Preparing*10 + c.Progress.Installing*70 + c.Progress.Finalizing*20) / 100
}

// ReportOperator records the state of an operator.
func (r Clusters) ReportOperator(ctx context.Context, o model.MonitoredOperator) error {
	err := r.Store.ReportOperator(ctx, o, func(tx *store.Tx) {
		tx.Event(events.New(events.ClusterOperatorStatus, events.Subject{ClusterID: &o.ClusterID}, events.Props{
			"operator_name": o.Name, "status": string(o.Status), "status_info": o.StatusInfo,
		}, tx.Now()))
		tx.RefreshCluster(o.ClusterID)
	})
	if err != nil {
		return err
	}
	return r.CheckMilestones(ctx, o.ClusterID)
}

// IngressCert completes the kubeconfig with the certificate of the cluster's ingress.
func (r Clusters) IngressCert(ctx context.Context, id uuid.UUID, pem string) error {
	c, err := r.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if !lifecycle.TakesIngress.Has(c.Status) {
		return model.Invalidf("the ingress certificate is not expected now: require a cluster that is installing, found %s", c.Status)
	}
	kubeconfig, err := r.Blob.Get(ctx, blob.ClusterFile(id, "kubeconfig-noingress"))
	if err != nil {
		return err
	}
	merged, err := addCA(kubeconfig, pem)
	if err != nil {
		return err
	}
	if !c.IngressCertAt.IsZero() {
		return r.sameIngressCert(ctx, c, merged)
	}
	if _, err := r.Blob.PutSecret(ctx, blob.ClusterFile(id, "kubeconfig"), merged); err != nil {
		return err
	}
	err = transitions.UpdateCluster(ctx, r.Store, id, func(c *model.Cluster, tx *store.Tx) error {
		if c.IngressCertAt.IsZero() {
			c.IngressCertAt = tx.Now()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.CheckMilestones(ctx, id)
}

// sameIngressCert accepts a repeated report. Another certificate is refused: users of the kubeconfig trust it for the API.
func (r Clusters) sameIngressCert(ctx context.Context, c *model.Cluster, merged []byte) error {
	known, err := r.Blob.Get(ctx, blob.ClusterFile(c.ID, "kubeconfig"))
	if err != nil {
		return err
	}
	if !bytes.Equal(known, merged) {
		return model.Conflictf("cluster %s has an ingress certificate since %s, and the reported one differs from it",
			c.Name, c.IngressCertAt.UTC().Format(time.RFC3339))
	}
	return r.CheckMilestones(ctx, c.ID)
}

// Complete records the controller's final report.
func (r Clusters) Complete(ctx context.Context, id uuid.UUID, success bool, errorInfo string) error {
	err := transitions.UpdateCluster(ctx, r.Store, id, func(c *model.Cluster, tx *store.Tx) error {
		if c.Status == model.ClusterInstalled {
			return nil
		}
		if !lifecycle.UnderInstallation.Has(c.Status) {
			return model.Conflictf("the installation cannot be completed: require status finalizing, found %s", c.Status)
		}
		c.Completion = &model.Completion{Success: success, ErrorInfo: errorInfo, At: tx.Now()}
		return nil
	})
	if err != nil {
		return err
	}
	return r.CheckMilestones(ctx, id)
}

// Milestone reports whether a milestone is reached; the error is the cluster's failure.
func (r Clusters) Milestone(ctx context.Context, id uuid.UUID, m model.Milestone) (reached bool, failure string, err error) {
	c, err := r.Store.Cluster(ctx, id)
	if err != nil {
		return false, "", err
	}
	if c.Completion != nil && !c.Completion.Success {
		return true, "the controller reported: " + c.Completion.ErrorInfo, nil
	}
	switch m {
	case model.MilestoneOperatorsAvailable:
		operators, err := r.Store.MonitoredOperators(ctx, id)
		return err == nil && len(operators) > 0 && lifecycle.OperatorsDone(operators), "", err
	case model.MilestoneIngressCertificate:
		return !c.IngressCertAt.IsZero(), "", nil
	case model.MilestoneCompletion:
		if c.Completion != nil {
			return true, "", nil
		}
		since, err := r.complete(ctx, c)
		return err == nil && !since.IsZero() && r.Silence > 0 && r.Store.Now().Sub(since) >= r.Silence, "", err
	}
	return false, "", fmt.Errorf("unknown milestone %q", m)
}

// complete returns since when all facts of an installed cluster hold: hosts, operators and the ingress certificate; zero while one is
// missing. A foreign controller that ends before its last report leaves only these facts (openshift/assisted-service,
// internal/cluster/transition.go, hasClusterCompleteInstallation: it waits for no report of completion).
func (r Clusters) complete(ctx context.Context, c *model.Cluster) (time.Time, error) {
	operators, err := r.Store.MonitoredOperators(ctx, c.ID)
	if err != nil {
		return time.Time{}, err
	}
	hosts, err := r.Store.ClusterHosts(ctx, c.ID)
	if err != nil {
		return time.Time{}, err
	}
	installed := !slices.ContainsFunc(hosts, func(h *model.Host) bool { return !lifecycle.InstalledHosts.Has(h.Status) })
	if c.IngressCertAt.IsZero() || !installed || len(operators) == 0 || !lifecycle.OperatorsDone(operators) {
		return time.Time{}, nil
	}
	facts := []time.Time{c.IngressCertAt, c.Progress.FinalizingStageStartedAt}
	for _, o := range operators {
		facts = append(facts, o.StatusUpdatedAt)
	}
	for _, h := range hosts {
		facts = append(facts, h.Progress.StageUpdatedAt)
	}
	return slices.MaxFunc(facts, time.Time.Compare), nil
}

// CheckMilestones finishes the milestones of a cluster that are reached. Besides the reports above a sweeper calls it, so that a crash
// in between loses no milestone.
func (r Clusters) CheckMilestones(ctx context.Context, id uuid.UUID) error {
	for _, m := range []model.Milestone{
		model.MilestoneOperatorsAvailable, model.MilestoneIngressCertificate, model.MilestoneCompletion,
	} {
		reached, failure, err := r.Milestone(ctx, id, m)
		if err != nil {
			return err
		}
		if !reached {
			continue
		}
		code := 0
		if failure != "" {
			code = 1
		}
		err = r.Store.Write(ctx, func(tx *store.Tx) error {
			tx.MilestoneReached(id, m, code, failure)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
