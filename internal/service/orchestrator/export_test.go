package orchestrator

import "context"

// Reconcile is one look for lost workflows.
func (o *Orchestrator) Reconcile(ctx context.Context) error { return o.reconcile(ctx) }
