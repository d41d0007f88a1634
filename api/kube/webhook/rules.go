package webhook

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/model"
)

// validator decides about resources of a kind. Errors are statuses that the API server answers.
type validator[T kube.Object] struct {
	created func(ctx context.Context, o T) error
	changed func(ctx context.Context, before, after T) error
}

// ValidateCreate implements admission.Validator.
func (v validator[T]) ValidateCreate(ctx context.Context, o T) (admission.Warnings, error) {
	return nil, v.created(ctx, o)
}

// ValidateUpdate implements admission.Validator. A resource that is being deleted may always lose its finalizers.
func (v validator[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return nil, v.changed(ctx, before, after)
}

// ValidateDelete implements admission.Validator. The API server asks about no deletions.
func (validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

// refused returns an error with the status code that the existing service has for it.
func refused(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

func invalid(format string, args ...any) error {
	return refused(http.StatusBadRequest, metav1.StatusReasonBadRequest, format, args...)
}

var agents = validator[*agentinstall.Agent]{created: agentCreated, changed: agentChanged}

// agentCreated holds references in the namespace of an Agent.
func agentCreated(_ context.Context, a *agentinstall.Agent) error {
	if path, namespace := a.ForeignReference(); path != "" {
		return invalid("%s: require the Agent's namespace %s, found %s", path, a.Namespace, namespace)
	}
	return nil
}

// installing are the statuses in which a host keeps its cluster.
var installing = []model.HostStatus{
	model.HostPreparingForInstallation, model.HostPreparingFailed, model.HostPreparingSuccessful, model.HostInstalling,
	model.HostInstallingInProgress, model.HostInstallingPendingUserAction,
}

func agentChanged(ctx context.Context, before, after *agentinstall.Agent) error {
	if err := agentCreated(ctx, after); err != nil {
		return err
	}
	was, is := before.Spec.ClusterDeploymentName, after.Spec.ClusterDeploymentName
	state := model.HostStatus(after.Status.DebugInfo.State)
	leaves := is == nil && after.Status.Kind == string(model.KindAddToExistingClusterHost)
	if sameCluster(was, is) || leaves || !slices.Contains(installing, state) {
		return nil
	}
	return invalid("spec.clusterDeploymentName: require %s while the host is %s, found %s", named(was), state, named(is))
}

func sameCluster(a, b *agentinstall.ClusterReference) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func named(ref *agentinstall.ClusterReference) string {
	if ref == nil {
		return "none"
	}
	return ref.Namespace + "/" + ref.Name
}

// infraEnvs has the rule that needs the cluster: its image has the cluster's version until the cluster is installed.
func infraEnvs(deployments kube.Reader) validator[*agentinstall.InfraEnv] {
	return validator[*agentinstall.InfraEnv]{
		created: func(_ context.Context, e *agentinstall.InfraEnv) error {
			if e.Spec.ClusterRef != nil && e.Spec.OSImageVersion != "" {
				return invalid("spec: require clusterRef or osImageVersion, found both")
			}
			return nil
		},
		changed: func(ctx context.Context, before, after *agentinstall.InfraEnv) error {
			ref := after.Spec.ClusterRef
			if ref == nil || before.Spec.ClusterRef == nil || before.Spec.OSImageVersion != "" || after.Spec.OSImageVersion == "" {
				return nil
			}
			d := &hive.ClusterDeployment{}
			err := deployments.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, d)
			switch {
			case apierrors.IsNotFound(err), err == nil && !d.Spec.Installed:
				return invalid("spec.osImageVersion: require none until ClusterDeployment %s is installed, found %s",
					named(ref), after.Spec.OSImageVersion)
			case err != nil:
				return fmt.Errorf("read ClusterDeployment %s: %w", named(ref), err)
			}
			return nil
		},
	}
}

var clusterInstalls = validator[*hiveext.AgentClusterInstall]{
	created: func(_ context.Context, i *hiveext.AgentClusterInstall) error { return checkSingleNode(i) },
	changed: clusterInstallChanged,
}

// checkSingleNode refuses a single node whose network the cluster would manage: there is nothing to move a virtual address to.
func checkSingleNode(i *hiveext.AgentClusterInstall) error {
	managed := i.Spec.Networking.UserManagedNetworking
	if i.Spec.ProvisionRequirements.ControlPlaneAgents != 1 || i.Spec.ProvisionRequirements.WorkerAgents != 0 || managed == nil || *managed {
		return nil
	}
	return refused(http.StatusConflict, metav1.StatusReasonConflict,
		"spec.networking.userManagedNetworking: require true, or none, with one control plane agent and no workers, found false")
}

// mutable are the fields of an AgentClusterInstall that can be changed after its installation has begun; requirements only once it has
// ended, as nothing reads them any more.
var mutable = []string{"clusterMetadata", "ignitionEndpoint"}

func clusterInstallChanged(_ context.Context, before, after *hiveext.AgentClusterInstall) error {
	if err := checkSingleNode(after); err != nil {
		return err
	}
	begun, ended := progress(after)
	if !begun {
		return nil
	}
	except := mutable
	if ended {
		except = append(slices.Clone(mutable), "provisionRequirements")
	}
	changed, err := changes(before.Spec, after.Spec, except)
	switch {
	case err != nil:
		return err
	case len(changed) > 0:
		return invalid("spec: the installation has begun, require only %s to change, found %s",
			strings.Join(except, ", "), strings.Join(changed, ", "))
	}
	return nil
}

// progress reads the condition that the controller has set.
func progress(i *hiveext.AgentClusterInstall) (begun, ended bool) {
	reason := i.Status.Reason(hiveext.Completed)
	ended = reason == hiveext.ReasonInstallationCompleted || reason == hiveext.ReasonInstallationFailed
	return ended || reason == hiveext.ReasonInstallationInProgress || reason == hiveext.ReasonClusterAlreadyInstalling, ended
}
