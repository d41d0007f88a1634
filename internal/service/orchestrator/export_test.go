package orchestrator

import "context"

// Reconcile looks once for lost workflows.
func (o *Orchestrator) Reconcile(ctx context.Context) error { return o.reconcile(ctx) }

// Forward and Beat run background work once.
func (o *Orchestrator) Forward(ctx context.Context) error { return o.forwardAll(ctx) }
func (o *Orchestrator) Beat(ctx context.Context) error    { return o.beat(ctx) }
