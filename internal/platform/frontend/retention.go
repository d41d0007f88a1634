package frontend

import (
	"context"
	"fmt"
	"time"

	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	day = 24 * time.Hour
	// DefaultRetention is the retention of namespaces which Slipway creates.
	DefaultRetention = 30 * day
)

// CheckRetention accepts whole days. One is the least of a global namespace (MinRetentionGlobal in
// common/namespace/const.go of the server); Temporal's tools and its cloud count in days.
func CheckRetention(d time.Duration) error {
	if d < day || d%day != 0 {
		return fmt.Errorf("require whole days in hours, at least 24h, such as 720h, found %s", d)
	}
	return nil
}

func (o NamespaceOptions) retention() time.Duration {
	if o.Retention == nil {
		return DefaultRetention
	}
	return *o.Retention
}

// setRetention changes the retention of a namespace that has another one. It fails for the bundled server only:
// who runs an external one may allow no change of it.
func (o NamespaceOptions) setRetention(ctx context.Context, c client.Client, namespace string) error {
	if o.External && o.Retention == nil {
		return nil
	}
	found, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err == nil {
		if found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == o.retention() {
			return nil
		}
		_, err = c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
			Namespace: namespace,
			Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.retention())},
		})
	}
	if err == nil {
		o.Logger.Info("retention of ended workflows changed", "namespace", namespace, "retention", o.retention())
	}
	if o.External && refused(err) {
		o.Logger.Warn("retention of ended workflows is not changed: Temporal refused it",
			"namespace", namespace, "required", o.retention(), "error", err,
			"do", fmt.Sprintf("temporal operator namespace update --retention %dd --namespace %s", o.retention()/day, namespace))
		return nil
	}
	return err
}

// refused reports whether a server answered and will answer the same again.
func refused(err error) bool {
	switch serviceerror.ToStatus(err).Code() {
	case codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented, codes.FailedPrecondition:
		return true
	default:
		return false
	}
}
