package e2e_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/postgres"
	"slipway/internal/sim"
	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
	"slipway/internal/wire"
	"slipway/test/built"
)

// lossesOfEach is how many installations each row of TestOneSchemaIsLostOrRestored happens to.
var lossesOfEach = flag.Int("losses", 1, "installations of TestOneSchemaIsLostOrRestored for each loss")

// The schemas of one database (docs/engine.md).
var (
	ofTemporal = []string{"temporal", "temporal_visibility"}
	ofOurs     = []string{"slipway"}
)

// loss of tables in a phase.
type loss struct {
	phase    string
	schemas  []string
	restored bool // from a dump of the phase "writing"; else they are lost
}

// TestOneSchemaIsLostOrRestored takes away one half of what an installation is made of, in the middle of it, or puts an older
// one in its place, and starts the service again.
func TestOneSchemaIsLostOrRestored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		losses []loss
		end    func(*testing.T, *fleet) string
	}{
		{"Temporal's tables", []loss{{"gate", ofTemporal, true}, {"finalizing", ofTemporal, false}}, isInstalled},
		{"our tables are restored", []loss{{"gate", ofOurs, true}}, isInstalledByItself},
		{"our tables are restored late", []loss{{"gate", ofOurs, true}, {"finalizing", ofOurs, true}}, isInstalledByItself},
		{"our tables are lost", []loss{{"gate", ofOurs, false}}, isNamed},
	} {
		for n := range *lossesOfEach {
			t.Run(fmt.Sprint(tt.name, " ", n+1), func(t *testing.T) {
				t.Parallel()
				f := newFleet(t)
				f.beginAt(t, 80)
				f.await(t, "writing", phaseNamed(t, "writing"))
				f.cluster.signal(syscall.SIGSTOP) // no phase passes while a busy machine dumps the tables
				goOn := sync.OnceFunc(func() { f.cluster.signal(syscall.SIGCONT) })
				t.Cleanup(goOn)
				dump := f.dump(t, tt.losses[0].schemas)
				for _, l := range tt.losses {
					f.await(t, l.phase, phaseNamed(t, l.phase))
					if l.restored {
						f.restore(t, l.schemas, dump)
					} else {
						f.lose(t, l.schemas)
						f.service.signal(syscall.SIGKILL)
					}
					built.WaitReady(t, f.url)
					goOn()
				}
				t.Log(tt.end(t, f))
			})
		}
	}
}

func phaseNamed(t *testing.T, name string) func(*wire.Cluster) bool {
	t.Helper()
	for _, p := range phases {
		if p.name == name {
			return p.at
		}
	}
	require.Fail(t, "no phase "+name)
	return nil
}

// lose drops schemas under the running service. It is tried again while it and the service wait for each other's locks.
func (f *fleet) lose(t *testing.T, schemas []string) {
	t.Helper()
	await.True(t, func() bool {
		err := f.tryPSQL(t, "-c", dropped(schemas))
		if err != nil {
			t.Log(err)
		}
		return err == nil
	}, "the tables are in use")
}

// restore puts schemas of a dump in place of the present ones, while the service is stopped: a running one would write what it
// remembers of the present ones into them.
func (f *fleet) restore(t *testing.T, schemas []string, dump string) {
	t.Helper()
	release := f.service.hold(t, syscall.SIGKILL)
	database, err := postgres.Start(await.Context(t), postgres.Options{
		DataDir: f.dataDir, Account: postgrestest.Account(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	require.NoError(t, err)
	args := []string{"--single-transaction", "-c", dropped(schemas)}
	for _, s := range schemas {
		args = append(args, "-c", "create schema "+s)
	}
	if slices.Contains(schemas, "temporal_visibility") { // it went with the schema, and is not in the dump
		args = append(args, "-c", "create extension btree_gin with schema temporal_visibility")
	}
	require.NoError(t, f.tryPSQL(t, append(args, "-f", dump)...))
	require.NoError(t, database.Stop(await.Context(t)))
	release()
}

func dropped(schemas []string) string {
	return "drop schema " + strings.Join(schemas, ", ") + " cascade"
}

// dump saves schemas as SQL.
func (f *fleet) dump(t *testing.T, schemas []string) string {
	t.Helper()
	file := filepath.Join(f.dir, "dump.sql")
	args := []string{"-d", f.databaseURL(), "-f", file}
	for _, s := range schemas {
		args = append(args, "-n", s)
	}
	out, err := exec.CommandContext(t.Context(), postgresTool(t, "pg_dump"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	sql, err := os.ReadFile(file)
	require.NoError(t, err)
	without := regexp.MustCompile(`(?m)^CREATE SCHEMA .*$`).ReplaceAll(sql, nil)
	require.NoError(t, os.WriteFile(file, without, 0o600))
	return file
}

func (f *fleet) tryPSQL(t *testing.T, args ...string) error {
	t.Helper()
	args = append([]string{"-q", "-v", "ON_ERROR_STOP=1", "-d", f.databaseURL()}, args...)
	out, err := exec.CommandContext(t.Context(), postgresTool(t, "psql"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// postgresTool finds a tool of PostgreSQL, where Debian has it.
func postgresTool(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	require.NoError(t, err)
	if len(found) == 0 {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		return path
	}
	return found[len(found)-1]
}

// isInstalled ends with every disk written once.
func isInstalled(t *testing.T, f *fleet) string {
	t.Helper()
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	return "installed, each disk written once"
}

// isInstalledByItself ends without a command, also where hosts were installed after the dump: to its rows they are in the middle of it, and
// silent, until the controller sees their nodes.
func isInstalledByItself(t *testing.T, f *fleet) string {
	t.Helper()
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.writtenOnce(t)
	return "installed, each disk written once"
}

// writtenOnce requires one image write of each machine, by its own log.
func (f *fleet) writtenOnce(t *testing.T) {
	t.Helper()
	for name := range f.machines {
		require.Equal(t, 1, f.writesOf(t, name), "image writes of %s of %s", name, f.name)
	}
}

// writesOf counts the image writes that a machine began.
func (f *fleet) writesOf(t *testing.T, name string) (writes int) {
	t.Helper()
	for _, e := range journal(t, filepath.Join(f.machineDir(name), sim.LogFile)) {
		if e.Event == sim.EventWriteStarted {
			writes++
		}
	}
	return writes
}

// isNamed has nothing left to install: the API does not know the cluster, and its workflows end.
func isNamed(t *testing.T, f *fleet) string {
	t.Helper()
	f.found(t, "ClusterName = 'e2e' AND WorkflowType = 'ClusterInstall' AND ExecutionStatus != 'Running'", f.clusterWorkflow())
	// Tokens of users are lost with the tables: the administrator of the machine has another.
	_, err := f.client.Cluster(t.Context(), f.id)
	require.ErrorContains(t, err, "the token was revoked")
	_, err = built.Administrator(t, f.dataDir).Cluster(t.Context(), f.id)
	require.ErrorIs(t, err, model.ErrNotFound)
	for name := range f.machines {
		require.LessOrEqual(t, f.writesOf(t, name), 1, name)
	}
	return "the workflows end, the cluster is unknown, no disk is written again"
}
