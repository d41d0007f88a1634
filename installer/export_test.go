package installer

import "context"

// Apply brings the host to the state of an Ignition config.
func (i *Installer) Apply(ctx context.Context, config []byte) error { return i.apply(ctx, config) }
