package postgres_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
)

// former makes a data folder with a table, as a version left it whose server ran as an account that other programs have too.
func former(t *testing.T) (dir string) {
	t.Helper()
	dir = postgrestest.Folder(t)
	database := begin(t, dir, postgrestest.Account())
	postgrestest.Exec(t, database.URL(), "create table kept (n int)", "insert into kept values (42)")
	postgrestest.Stop(t, database)
	require.Contains(t, owners(t, filepath.Join(dir, "postgres")), uidOf(t, postgrestest.Account()))
	return dir
}

// keepsItsData starts a server as its own user, and requires the table of former.
func keepsItsData(t *testing.T, dir string) {
	t.Helper()
	database := begin(t, dir, "")
	require.Equal(t, 42, postgrestest.Number(t, database.URL(), "select n from kept"))
	postgrestest.Stop(t, database)
}

func TestPostgresGetsTheFilesOfItsFormerUser(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, "true") {
		return
	}
	dir := former(t)
	outside := filepath.Join(postgrestest.Folder(t), "outside")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	dangling, foreign := filepath.Join(dir, "postgres", "base", "dangling"), filepath.Join(dir, "postgres", "foreign")
	require.NoError(t, os.Symlink("/nonexistent", dangling))
	require.NoError(t, os.Lchown(dangling, int(uidOf(t, postgrestest.Account())), -1))
	require.NoError(t, os.WriteFile(foreign, nil, 0o600)) // root's own
	keepsItsData(t, dir)
	found := owners(t, filepath.Join(dir, "postgres"))
	require.NotContains(t, found, uidOf(t, postgrestest.Account()))
	require.Equal(t, foreign, found[0], "a file of a third user is left unchanged")
	keepsItsData(t, dir)
}

// A start that was killed has changed some files, and not the folder itself.
func TestPostgresResumesAChangeOfItsUser(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, "true") {
		return
	}
	dir := former(t)
	postgrestest.Stop(t, begin(t, postgrestest.Folder(t), "")) // creates the user
	own, changed := int(uidOf(t, postgres.DefaultAccount)), 0
	data := filepath.Join(dir, "postgres")
	require.NoError(t, filepath.WalkDir(data, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != data && changed < 400 {
			changed++
			err = os.Lchown(name, own, own)
		}
		return err
	}))
	found := owners(t, data)
	require.Len(t, found, 2, "%v", found)
	keepsItsData(t, dir)
	require.Len(t, owners(t, data), 1)
}

// The former user could have left anything in the folder, and root must not open it.
func TestPostgresChangesNoFilesOutsideOfItsFolder(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, "true") {
		return
	}
	dir := former(t)
	data, other := filepath.Join(dir, "postgres"), postgrestest.Folder(t)
	attacker := int(uidOf(t, postgrestest.Account()))
	theirs, roots := filepath.Join(other, "theirs"), filepath.Join(other, "roots")
	require.NoError(t, os.WriteFile(theirs, []byte("x"), 0o600))
	require.NoError(t, os.Chown(theirs, attacker, -1))
	require.NoError(t, os.WriteFile(roots, []byte("root's\n"), 0o600))
	refused := func(text string) {
		_, err := postgres.Start(await.Context(t), options(t, dir, ""))
		require.ErrorContains(t, err, text)
		info, err := os.Stat(data)
		require.NoError(t, err)
		require.Equal(t, attacker, int(info.Sys().(*syscall.Stat_t).Uid), "the change is not complete")
		require.Contains(t, owners(t, other), uint32(attacker))
	}

	link := filepath.Join(data, "pg_wal", "link")
	require.NoError(t, os.Link(theirs, link))
	refused("require files with one name, found " + link + " with 2 (hard links)")
	require.NoError(t, os.Remove(link))

	require.NoError(t, os.Symlink(other, link))
	refused(link + ": symbolic links to files of another user, which is not changed")
	require.NoError(t, os.Remove(link))

	// The rules of access are written by root too.
	hba := filepath.Join(data, "pg_hba.conf")
	require.NoError(t, os.Remove(hba))
	require.NoError(t, os.Symlink(roots, hba))
	require.NoError(t, os.Symlink(roots, hba+".new"))
	refused(hba)
	keptText, err := os.ReadFile(roots)
	require.NoError(t, err)
	require.Equal(t, "root's\n", string(keptText))
	require.NoError(t, os.Remove(hba))
	require.NoError(t, os.Remove(hba+".new"))
	keepsItsData(t, dir)

	require.NoError(t, os.Remove(hba))
	require.NoError(t, os.Symlink(roots, hba)) // by the server's own user
	require.NoError(t, os.Symlink(roots, hba+".new"))
	keepsItsData(t, dir)
	keptText, err = os.ReadFile(roots)
	require.NoError(t, err)
	require.Equal(t, "root's\n", string(keptText), "root wrote through a link")
}
