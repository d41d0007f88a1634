package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/wire"
)

// catalogNamespace is where the catalogs of OpenShift are, and the Jobs that unpack their bundles
// (operator-framework/operator-lifecycle-manager, pkg/controller/bundle). A Job that failed is never tried again
// (issue 2265 of that project): the operator is not installed until somebody deletes it.
const (
	catalogNamespace = "openshift-marketplace"
	unpackLabel      = "operatorframework.io/bundle-unpack-ref"
)

var installPlans = operatorsCoreos.WithResource("installplans")

// DeleteUnpackJob deletes a failed Job and what it unpacks to, so that it is made again.
type DeleteUnpackJob struct{ Name string }

// DeleteInstallPlan deletes a failed InstallPlan.
type DeleteInstallPlan struct{ Namespace, Name string }

// missingRepairs removes what keeps operators from being installed while the service waits for them to appear.
func missingRepairs(s State) []Action {
	if olmStarted(s) {
		return nil
	}
	var actions []Action
	for i := range s.UnpackJobs {
		if job := &s.UnpackJobs[i]; failedUnpack(job) {
			actions = append(actions, DeleteUnpackJob{Name: job.Name})
		}
	}
	for _, plan := range s.InstallPlans {
		if phase, _, _ := unstructured.NestedString(plan.Object, "status", "phase"); phase == "Failed" {
			actions = append(actions, DeleteInstallPlan{Namespace: plan.GetNamespace(), Name: plan.GetName()})
		}
	}
	return actions
}

func failedUnpack(job *batchv1.Job) bool {
	if _, unpacks := job.Labels[unpackLabel]; !unpacks && !ownedByConfigMap(job) {
		return false
	}
	return jobEnded(job, batchv1.JobFailed)
}

// ownedByConfigMap: Jobs of versions before the label have the ConfigMap of their name as owner.
func ownedByConfigMap(job *batchv1.Job) bool {
	for _, owner := range job.OwnerReferences {
		if owner.Kind == "ConfigMap" && owner.Name == job.Name {
			return true
		}
	}
	return false
}

// observeRepairs reads the Jobs and InstallPlans of operators that do not appear.
func (c *controller) observeRepairs(ctx context.Context, s *State) error {
	if olmStarted(*s) {
		return nil
	}
	jobs, err := c.kube.BatchV1().Jobs(catalogNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the jobs of the catalogs: %w", err)
	}
	s.UnpackJobs = jobs.Items
	seen := map[string]bool{}
	for _, o := range s.Monitored {
		if o.OperatorType != wire.Olm || seen[o.Namespace] || o.Namespace == "" {
			continue
		}
		seen[o.Namespace] = true
		plans, err := c.listed(ctx, installPlans, o.Namespace)
		if err != nil {
			return err
		}
		s.InstallPlans = append(s.InstallPlans, plans...)
	}
	return nil
}

func (a DeleteUnpackJob) do(ctx context.Context, c *controller) error {
	options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	err := c.kube.BatchV1().Jobs(catalogNamespace).Delete(ctx, a.Name, options)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete failed job %s of the catalogs: %w", a.Name, err)
	}
	err = c.kube.CoreV1().ConfigMaps(catalogNamespace).Delete(ctx, a.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete what job %s of the catalogs unpacked: %w", a.Name, err)
	}
	c.Log.WarnContext(ctx, "failed unpacking of an operator deleted, to be repeated", "job", a.Name)
	return nil
}

func (a DeleteInstallPlan) do(ctx context.Context, c *controller) error {
	err := c.dynamic.Resource(installPlans).Namespace(a.Namespace).Delete(ctx, a.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete failed install plan %s/%s: %w", a.Namespace, a.Name, err)
	}
	c.Log.WarnContext(ctx, "failed install plan deleted", "namespace", a.Namespace, "plan", a.Name)
	return nil
}
