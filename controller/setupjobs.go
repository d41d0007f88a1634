package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/model"
)

// setupLabel is on Jobs that set an operator up once it runs; its value is the operator (openshift/assisted-service,
// internal/operators/common).
const setupLabel = "agent-install.openshift.io/setup-job"

// observeSetup reads the Jobs that set operators up, in the stage that waits for them.
func (c *controller) observeSetup(ctx context.Context, s *State) error {
	if s.Cluster.Stage != model.FinalizingWaitingForOperatorSetup {
		return nil
	}
	jobs, err := c.kube.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: setupLabel})
	if err != nil {
		return fmt.Errorf("list the jobs that set operators up: %w", err)
	}
	s.SetupJobs = jobs.Items
	for i := range s.SetupJobs {
		if job := &s.SetupJobs[i]; jobEnded(job, batchv1.JobFailed) {
			operator := job.Labels[setupLabel]
			c.sendOnce(ctx, notice{
				name: "operator_setup_failed", about: operator, warning: true,
				message: fmt.Sprintf("Operator %s is not set up: its job %s/%s has failed and is not tried again; its log says why",
					operator, job.Namespace, job.Name),
			})
		}
	}
	return nil
}

// setUp: no Job that sets an operator up still runs. One that has failed for good does not keep the cluster from being
// installed: Kubernetes does not run it again, and the operator itself is there.
func setUp(s State) bool {
	for i := range s.SetupJobs {
		if job := &s.SetupJobs[i]; !jobEnded(job, batchv1.JobComplete) && !jobEnded(job, batchv1.JobFailed) {
			return false
		}
	}
	return true
}

// jobEnded: a Job has come to an end of this kind.
func jobEnded(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
