package postgres

import (
	"context"
	"os/exec"
	"slices"
)

// setting is one parameter of the bundled server.
type setting struct {
	name, value, reason string
}

// settings are for one small machine shared with Slipway itself. Users who need others bring a database of
// their own.
var settings = []setting{
	{"listen_addresses", "", "the socket in the data folder is the only way in"},
	{"port", "5432", "part of the socket's name; a PGPORT in the environment must not change it"},
	{"unix_socket_permissions", "0700", "beside the folder's own mode"},
	{"cluster_name", "slipway", "distinguishes Slipway's processes from others in ps"},
	{"max_connections", "120", "four Temporal services with two pools each (80), the store (16), locks and psql"},
	{"shared_buffers", "64MB", "the working set of a thousand hosts is smaller; the page cache holds the rest"},
	{"effective_cache_size", "256MB", "what the planner may assume is cached"},
	{"maintenance_work_mem", "32MB", "autovacuum has three workers"},
	{"synchronous_commit", "on", "an acknowledged command survives a power cut"},
	{"fsync", "on", "as above"},
	{"full_page_writes", "on", "as above"},
	{"wal_compression", "on", "Temporal rewrites wide rows: less to write for little CPU"},
	{"max_wal_size", "512MB", "bounds both the disk used and the time of crash recovery"},
	{"autovacuum", "on", "pending activities and history shards are rewritten all the time"},
	{"autovacuum_naptime", "20s", "small hot tables bloat faster than once a minute"},
	{"jit", "off", "every query is short; compiling one costs more than running it"},
	{"max_parallel_workers_per_gather", "0", "as above, and no shared memory segments in containers"},
	{"restart_after_crash", "on", "a crashed backend restarts the rest without our help"},
	{"logging_collector", "off", "messages come through our own log"},
	{"log_destination", "stderr", "as above"},
	{"log_line_prefix", "", "as above: our log has a time of its own"},
	{"log_min_messages", "log", "statement errors are the client's to report; Temporal relies on some"},
	{"log_min_error_statement", "panic", "statements hold data"},
	{"log_checkpoints", "off", "one line every five minutes is of no use"},
}

// preferred replace settings where the server takes them: lz4, which needs a fraction of the time of pglz, came with versions 14 and 15,
// and is left out of some builds.
var preferred = []setting{
	{"wal_compression", "lz4", "whole pages are written after each checkpoint"},
	{"default_toast_compression", "lz4", "histories of Temporal; tables of Slipway say so themselves"},
}

// serverArgs returns the command line of the server.
func (p *Server) serverArgs(ctx context.Context) []string {
	all := slices.Clone(settings)
	for _, s := range preferred {
		if p.takes(ctx, s) {
			all = append(all, s)
		}
	}
	args := []string{"-D", p.folder.data, "-c", `unix_socket_directories="` + p.folder.socket + `"`}
	for _, s := range all {
		args = append(args, "-c", s.name+"="+s.value)
	}
	return args
}

// takes reports whether the server knows a setting with its value.
func (p *Server) takes(ctx context.Context, s setting) bool {
	cmd := exec.CommandContext(ctx, p.binaries.path("postgres"), "-D", p.folder.data, "-c", s.name+"="+s.value, "-C", s.name)
	cmd.SysProcAttr, cmd.Dir, cmd.Env = p.account.attr(), p.folder.data, childEnv
	return cmd.Run() == nil
}
