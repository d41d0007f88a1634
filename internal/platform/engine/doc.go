// Package engine runs what Slipway bundles: a PostgreSQL server of its own, the Temporal
// server inside this process on that database, and Temporal's web UI as an HTTP handler.
// Each part can be replaced from outside (a database URL, a Temporal address), and nothing
// above this package knows which one it talks to.
//
// The Temporal server has no stable Go API and takes minutes to compile, so only this
// package imports it, and only cmd/slipway imports this package.
//
// # Who ends when
//
// PostgreSQL is a child in a process group of its own. A SIGINT that a terminal sends to
// the whole foreground group therefore does not reach it: to PostgreSQL that signal means
// "disconnect all clients now", which would cut off the requests and workflow tasks that the
// rest of the service is still finishing. Instead Slipway drains first and stops
// PostgreSQL last, with that same signal.
//
// When Slipway itself is killed (SIGKILL, out of memory) no process is left to send it, so the
// kernel does: the child carries a parent-death signal. It is SIGINT, a clean stop with a
// checkpoint, and needs no crash recovery at the next start. Parent death is the death of
// the thread that forked, so that thread is kept for as long as the child lives. A next
// start that is faster than the dying child waits for it, and ends it if it hangs.
package engine
