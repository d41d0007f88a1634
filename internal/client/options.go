package client

import "time"

// Time limits of one attempt of a call, unless WithTimeout says another.
const (
	defaultTimeout  = 30 * time.Second
	transferTimeout = 10 * time.Minute // files and logs
)

// Option changes a single call.
type Option func(*call)

// WithRetry repeats an idempotent call on connection errors and on transient replies (408, 425, 429, 500, 502,
// 503, 504), with growing and jittered pauses, at least as long as Retry-After requests, until limit is over.
// Zero means until the context ends.
func WithRetry(limit time.Duration) Option {
	return func(c *call) { c.retry, c.retryLimit = true, limit }
}

// WithTimeout limits each attempt of the call.
func WithTimeout(limit time.Duration) Option {
	return func(c *call) { c.timeout = limit }
}

// WithWait asks the service to hold a poll for up to that long, in whole seconds, until
// a step is due (RFC 7240, section 4.3). For NextSteps.
func WithWait(wait time.Duration) Option {
	return func(c *call) { c.wait = wait }
}

// WithFineSteps announces an agent that takes one step for each stage. For RegisterHost.
func WithFineSteps() Option {
	return func(c *call) { c.fine = true }
}

// WithRegistrationAgain says that the host registered before in this boot: a host that was deleted since then stays deleted. For
// RegisterHost.
func WithRegistrationAgain() Option {
	return func(c *call) { c.again = true }
}

// WithBoot names the boot of the host. For RegisterHost and NextSteps.
func WithBoot(id string) Option {
	return func(c *call) { c.boot = id }
}

// WithKubeKey makes the call for a resource of Kubernetes: an object that it makes is the resource's, and what the resource defines can be
// changed by its own calls only.
func WithKubeKey(namespace, name string) Option {
	return func(c *call) { c.kubeKey = namespace + "/" + name }
}
