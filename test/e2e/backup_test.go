package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
	"slipway/test/built"
)

// Both backups of docs/engine.md are made and restored word for word while disks are written: cold into another folder, then hot
// into another database. The installation continues each time, and writes each disk once.
func TestDocumentedBackupsContinueARunningInstallation(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "SLIPWAY_HEARTBEAT=30m") // however long a busy machine takes for a backup
	s := shape{masters: 3, speed: 40}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "writing", stageOf("master-1", wire.HostStageWritingImageToDisk))

	blocks := documented(t, "../../docs/engine.md", "## Backup by hand")
	require.Len(t, blocks, 3, "a cold backup, a hot one, and how that is restored")
	cold, hot, restore := blocks[0], blocks[1], blocks[2]

	goOn := f.stopMachines(t)
	release := f.service.hold(t, syscall.SIGTERM)
	place := filepath.Dir(f.dataDir)
	shell(t, place, nil, strings.NewReplacer("/var/lib", place, " slipway\n", " "+filepath.Base(f.dataDir)+"\n").Replace(cold))
	moved := filepath.Join(f.dir, "cold")
	require.NoError(t, os.Mkdir(moved, 0o711))
	shell(t, moved, nil, "tar -xzf "+filepath.Join(place, "slipway-backup.tar.gz"))
	f.moveTo(t, filepath.Join(moved, filepath.Base(f.dataDir)))
	release()
	built.WaitReady(t, f.url)
	goOn()

	// A host that boots after the dump answers nothing of before it: the dump is of a service that has answered all requests, and
	// machines get no more steps until it is restored.
	goOn = f.stopMachines(t)
	f.service.hold(t, syscall.SIGTERM)()
	built.WaitReady(t, f.url)
	backup, folder := filepath.Join(f.dir, "backup"), filepath.Join(f.dir, "hot")
	require.NoError(t, os.Mkdir(backup, 0o700))
	shell(t, f.dir, nil, strings.NewReplacer("/var/lib/slipway", f.dataDir, "BACKUP", backup).Replace(hot))
	address, environment := f.ownDatabase(t)
	lines := strings.NewReplacer(
		"FOLDER", folder, "BACKUP", backup, "postgres://slipway@HOST/slipway", address,
	).Replace(restore)
	files, start, found := strings.Cut(lines, "slipway up ")
	require.True(t, found)
	shell(t, f.dir, environment, files)
	release = f.service.hold(t, syscall.SIGKILL)
	f.moveTo(t, folder, strings.Fields(start)...)
	release()
	built.WaitReady(t, f.url)
	f.openStore(t, address)
	f.auditKept(t, address)
	goOn()

	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
}

// auditKept checks that a restored database has what users did before, and still refuses to forget it.
func (f *fleet) auditKept(t *testing.T, address string) {
	t.Helper()
	rows, err := f.store.AuditEntries(t.Context(), store.AuditFilter{Operation: "v2InstallCluster", ClusterID: f.id, Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, []any{"admin", model.AuditOK, 202}, []any{rows[0].UserName, rows[0].Outcome, rows[0].Status})
	database, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	_, err = database.Exec(t.Context(), "delete from slipway.audit")
	require.ErrorContains(t, err, "kept as they were written")
}

// stopMachines stops the processes of all machines until goOn is called.
func (f *fleet) stopMachines(t *testing.T) (goOn func()) {
	t.Helper()
	for name, machine := range f.machines {
		require.True(t, machine.signal(syscall.SIGSTOP), name)
	}
	goOn = sync.OnceFunc(func() {
		for _, machine := range f.machines {
			machine.signal(syscall.SIGCONT)
		}
	})
	t.Cleanup(goOn)
	return goOn
}

// moveTo lets the next start of the service use another data folder; args replace its --data-dir.
func (f *fleet) moveTo(t *testing.T, dataDir string, args ...string) {
	t.Helper()
	if len(args) == 0 {
		args = []string{"--data-dir", dataDir}
	}
	f.service.mu.Lock()
	defer f.service.mu.Unlock()
	n := slices.Index(f.service.args, "--data-dir")
	f.service.args = slices.Concat(f.service.args[:n], args, f.service.args[n+2:])
	f.dataDir = dataDir
}

// ownDatabase returns the address of the database slipway on a server of the user, and the environment in which its tools are the
// server's superuser. The database itself does not exist yet.
func (f *fleet) ownDatabase(t *testing.T) (address string, environment []string) {
	t.Helper()
	config, err := pgx.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	admin, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer admin.Close(t.Context())
	_, err = admin.Exec(t.Context(), "create role slipway login")
	require.NoError(t, err)
	return "postgres:///slipway?host=" + config.Host + "&user=slipway&sslmode=disable",
		[]string{"PGHOST=" + config.Host, "PGUSER=" + config.User}
}

// openStore reads the rows of a database from now on.
func (f *fleet) openStore(t *testing.T, address string) {
	t.Helper()
	keys, err := encryption.File{Path: filepath.Join(f.dataDir, "keys")}.LoadOrCreate()
	require.NoError(t, err)
	f.store, err = store.Open(t.Context(), store.Options{URL: address, Sealer: keys, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(f.store.Close)
}

// documented returns the blocks of commands below a heading of a page.
func documented(t *testing.T, page, heading string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	require.True(t, found, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	parts := strings.Split(section, "```")
	for n := 1; n < len(parts); n += 2 {
		blocks = append(blocks, strings.TrimPrefix(parts[n], "\n"))
	}
	return blocks
}

// shell runs commands in a folder, with PostgreSQL's tools in the PATH.
func shell(t *testing.T, folder string, environment []string, commands string) {
	t.Helper()
	tools := filepath.Dir(postgresTool(t, "pg_restore"))
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH")), environment...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", commands, out)
}
