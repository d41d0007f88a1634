// Package postgres runs a PostgreSQL server in the data folder, as a child process. Commands
// that are given a database URL do not use it.
//
// # Order of the shutdown
//
// PostgreSQL is a child in a process group of its own. A SIGINT that a terminal sends to
// the whole foreground group therefore does not reach it: to PostgreSQL that signal means
// "disconnect all clients now", which would cut off the requests and workflow tasks that the
// rest of the service is still finishing. Instead Slipway drains first and stops
// PostgreSQL last, with the same signal.
//
// When Slipway itself is killed (SIGKILL, out of memory), the kernel sends it: the child
// carries a parent-death signal. It is SIGINT, a clean stop with a checkpoint, and needs no
// crash recovery at the next start. Parent death is the death of
// the thread that forked, so that thread is kept for as long as the child lives. A next
// start that is faster than the dying child waits for it, and ends it if it hangs.
package postgres
