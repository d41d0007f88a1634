package frontend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// bootstrapPatience bounds the time until a new namespace is known everywhere.
	bootstrapPatience = 30 * time.Second
	bootstrapPoll     = 50 * time.Millisecond
)

// searchAttributes are the attributes by which workflows are found, in addition to Temporal's own. They are
// never encrypted.
var searchAttributes = []string{"ClusterID", "ClusterName", "HostID", "HostName", "Phase", "State", "WaitingFor"}

// NamespaceOptions configure PrepareNamespace.
type NamespaceOptions struct {
	Namespace string
	// External cluster: objects that Slipway has no rights to create are assumed to exist.
	External bool
	// Retention is how long the history of an ended workflow is kept: see CheckRetention. Nil means
	// DefaultRetention, but a namespace of an external cluster that exists keeps its own.
	Retention *time.Duration
	Logger    *slog.Logger
}

// PrepareNamespace creates the namespace and the search attributes where they are missing, sets the
// retention, and returns when all can be used. It may run in several processes at once. With an external
// cluster it fails for what is missing and may not be created, and for credentials that may read no workflow.
func PrepareNamespace(ctx context.Context, c client.Client, o NamespaceOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bootstrapPatience,
		fmt.Errorf("no answer from Temporal within %s", bootstrapPatience))
	defer cancel()
	for _, step := range []struct {
		what string
		do   func(context.Context, client.Client, string) error
	}{
		{"namespace", o.register},
		{"retention", o.setRetention},
		{"search attributes", addSearchAttributes},
		{"search attributes in queries", querySearchAttributes},
	} {
		err := persist(ctx, func(ctx context.Context) error { return step.do(ctx, c, o.Namespace) })
		if o.External && lacksRights(err) && !isRequired(err) {
			o.Logger.Info("no rights to prepare Temporal, assuming it is", "what", step.what, "namespace", o.Namespace)
			continue
		}
		if err != nil {
			return fmt.Errorf("prepare Temporal namespace %s: %s: %w", o.Namespace, step.what, err)
		}
	}
	return nil
}

// register creates the namespace.
func (o NamespaceOptions) register(ctx context.Context, c client.Client, namespace string) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	var missing *serviceerror.NamespaceNotFound
	if !errors.As(err, &missing) {
		return err
	}
	_, err = c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		Description:                      "Installations run by Slipway",
		WorkflowExecutionRetentionPeriod: durationpb.New(o.retention()),
	})
	var exists *serviceerror.NamespaceAlreadyExists
	if errors.As(err, &exists) {
		return nil
	}
	return required(err, "the namespace is missing, and these credentials may not create it",
		fmt.Sprintf("temporal operator namespace create --retention %dd --namespace %s", o.retention()/day, namespace))
}

func addSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	have, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	command := "temporal operator search-attribute create --namespace " + namespace
	for _, name := range searchAttributes {
		if _, found := have.GetCustomAttributes()[name]; !found {
			missing[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
			command += " --name " + name + " --type Keyword"
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	var exists *serviceerror.AlreadyExists
	if errors.As(err, &exists) {
		return nil
	}
	return required(err, "search attributes are missing, and these credentials may not create them", command)
}

// querySearchAttributes verifies that they have reached the service that workflows start at.
func querySearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	for _, name := range searchAttributes {
		_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: namespace,
			Query:     "`" + name + "` = 'none'",
		})
		if err != nil {
			return required(err, "these credentials may not read workflows", "")
		}
	}
	return nil
}

// persist retries while the error comes from a server that is still starting, or does not know a new namespace
// yet.
func persist(ctx context.Context, step func(context.Context) error) error {
	poll := time.NewTicker(bootstrapPoll)
	defer poll.Stop()
	for {
		err := step(ctx)
		if err == nil || lacksRights(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-poll.C:
		}
	}
}

// requirementError says what an operator of Temporal has to provide.
type requirementError struct {
	what    string
	command string // empty: credentials with more rights
	err     error
}

func (e *requirementError) Error() string {
	if e.command == "" {
		return fmt.Sprintf("%s: %v", e.what, e.err)
	}
	return fmt.Sprintf("%s: %v: require %q by an operator of Temporal, or credentials of an administrator of the namespace",
		e.what, e.err, e.command)
}

func (e *requirementError) Unwrap() error { return e.err }

// required returns err as a requirement where it is a lack of rights.
func required(err error, what, command string) error {
	if !lacksRights(err) {
		return err
	}
	return &requirementError{what, command, err}
}

func isRequired(err error) bool {
	var r *requirementError
	return errors.As(err, &r)
}

func lacksRights(err error) bool {
	var denied *serviceerror.PermissionDenied
	return errors.As(err, &denied)
}
