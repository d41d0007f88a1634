package backup_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app/backup"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/testing/postgrestest"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// run runs one of the commands, and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var line struct {
		Backup  backup.Command        `cmd:""`
		Restore backup.RestoreCommand `cmd:""`
	}
	var out bytes.Buffer
	p := &process.Process{Stdout: &out, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler), Env: envconfig.EnvLookupOS, Now: time.Now}
	sources := &settings.Sources{Env: p.Env}
	parser, err := kong.New(&line, kong.Bind(p, sources), kong.BindToProvider(t.Context))
	require.NoError(t, err)
	selected, err := parser.Parse(append(args, "--postgres-user", postgrestest.Account())) // a test creates no user of the machine
	require.NoError(t, err)
	err = selected.Run()
	return out.String(), err
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer c.Close(t.Context())
	var text string
	require.NoError(t, c.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

// used makes a data folder as a service leaves it, and stops its database.
func used(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(postgrestest.Folder(t), "d")
	server := postgrestest.Start(t, dir, time.Now)
	for _, schema := range []string{"slipway", "temporal", "temporal_visibility"} {
		postgrestest.Exec(t, server.URL(), "create schema "+schema, "create table "+schema+".rows (t text)",
			"insert into "+schema+".rows values ('row of "+schema+"')")
	}
	postgrestest.Stop(t, server)
	for name, text := range map[string]string{
		"keys": "the keys\n", "token.key": "the token key\n", "tls/ca.pem": "the authority\n", "tls/ca.key": "its key\n",
		"blobs/clusters/1/kubeconfig": "sealed", "blobs/clusters/1/logs/a b.tar": "\x00\x01",
		"admin.config": "made again\n", "images/live.iso": "large", "releases/installer": "large",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestBackupIsRestoredIntoAnEmptyMachine(t *testing.T) {
	t.Parallel()
	dir, to := used(t), t.TempDir()
	secret := write(t, filepath.Join(t.TempDir(), "passphrase"), "correct horse battery\n")
	config := write(t, filepath.Join(t.TempDir(), "slipway.yaml"), "backup-keep: 2\nbackup-passphrase-file: "+secret+"\n")
	common := []string{"--data-dir", dir, "--config", config, "--backup-to", to}
	said, err := run(t, append([]string{"backup"}, common...)...)
	require.NoError(t, err)
	require.Regexp(t, `^slipway-\d{8}T\d{6}Z\.age: 6 files and 2 objects, .*; read back\n$`, said)
	made, err := filepath.Glob(filepath.Join(to, "*"))
	require.NoError(t, err)
	require.Len(t, made, 1)
	content, err := os.ReadFile(made[0])
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(content, []byte("age-encryption.org/v1\n")))
	require.NotContains(t, string(content), "the token key")
	first := write(t, filepath.Join(t.TempDir(), "first.age"), string(content))

	t.Run("beside a service that runs", func(t *testing.T) {
		server := postgrestest.Start(t, dir, time.Now)
		said, err := run(t, append([]string{"backup"}, common...)...)
		require.NoError(t, err)
		require.Contains(t, said, "read back")
		postgrestest.Stop(t, server)
	})
	t.Run("older ones go", func(t *testing.T) {
		for _, name := range []string{"slipway-20260101T000000Z.age", "slipway-20260102T000000Z.age", "other.age"} {
			write(t, filepath.Join(to, name), "old")
		}
		said, err := run(t, append([]string{"backup"}, common...)...)
		require.NoError(t, err)
		require.Contains(t, said, "slipway-20260101T000000Z.age: removed, --backup-keep 2\n")
		require.NoFileExists(t, filepath.Join(to, "slipway-20260102T000000Z.age"))
		require.FileExists(t, filepath.Join(to, "other.age"))
	})

	fresh := filepath.Join(postgrestest.Folder(t), "d")
	write(t, filepath.Join(fresh, "images", "live.iso"), "downloaded already")
	require.NoError(t, os.Chmod(fresh, 0o711))
	said, err = run(t, "restore", "file://"+first, "--data-dir", fresh, "--backup-passphrase-file", secret)
	require.NoError(t, err)
	require.Contains(t, said, "restored into "+fresh+": the backup of ")
	require.Contains(t, said, "compare the settings of the backup with yours: "+filepath.Join(fresh, "settings-of-backup.yaml"))
	for _, name := range []string{
		"keys", "token.key", "tls/ca.pem", "tls/ca.key", "blobs/clusters/1/kubeconfig", "blobs/clusters/1/logs/a b.tar",
	} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(fresh, name))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	require.NoFileExists(t, filepath.Join(fresh, backup.Unfinished))
	server := postgrestest.Start(t, fresh, time.Now)
	for _, schema := range []string{"slipway", "temporal", "temporal_visibility"} {
		require.Equal(t, "row of "+schema, query(t, server.URL(), "select t from "+schema+".rows"))
	}
	postgrestest.Stop(t, server)
	_, err = run(t, "restore", first, "--data-dir", fresh, "--backup-passphrase-file", secret)
	require.ErrorContains(t, err, "require a data folder that was not used, found "+fresh)
}

// A machine is as empty as before when a backup cannot be restored.
func TestBackupsThatCannotBeRestoredLeaveNothing(t *testing.T) {
	t.Parallel()
	dir, to := used(t), t.TempDir()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	mine := write(t, filepath.Join(t.TempDir(), "identity"), identity.String()+"\n")
	_, err = run(t, "backup", "--data-dir", dir, "--backup-to", to, "--backup-recipients", identity.Recipient().String())
	require.NoError(t, err)
	made, err := filepath.Glob(filepath.Join(to, "*.age"))
	require.NoError(t, err)
	require.Len(t, made, 1)
	content, err := os.ReadFile(made[0])
	require.NoError(t, err)
	other, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	theirs := write(t, filepath.Join(t.TempDir(), "identity"), other.String()+"\n")

	fresh := filepath.Join(postgrestest.Folder(t), "d")
	write(t, filepath.Join(fresh, "images", "live.iso"), "stays")
	require.NoError(t, os.Chmod(fresh, 0o711))
	for _, test := range []struct {
		name, identity string
		content        []byte
		want           string
	}{
		{"another key", theirs, content, "decrypt the backup: "},
		{"cut in the middle", mine, content[:len(content)/2], "read "},
		{"cut at the end", mine, content[:len(content)-1], "read "},
		{"another file", mine, []byte("hello"), "decrypt the backup: "},
		{"without its keys", mine, without(t, content, identity, "files/keys"), "files/keys is missing or differs from what was written"},
		{"without its token key", mine, without(t, content, identity, "files/token.key"), "files/token.key is missing"},
		{"without its authority", mine, without(t, content, identity, "files/tls/ca.pem"), "files/tls/ca.pem is missing"},
		{"without an object", mine, without(t, content, identity, "blobs/clusters/1/kubeconfig"), "blobs/clusters/1/kubeconfig is missing"},
		{"without its database", mine, without(t, content, identity, "database.dump"), "database.dump is missing"},
		{"without its digests", mine, without(t, content, identity, "digests.json"), "not complete: it ends before its last member"},
	} {
		file := write(t, filepath.Join(t.TempDir(), "backup.age"), string(test.content))
		_, err := run(t, "restore", file, "--data-dir", fresh, "--identity", test.identity)
		require.ErrorContains(t, err, test.want, test.name)
		entries, err := os.ReadDir(fresh)
		require.NoError(t, err)
		require.Len(t, entries, 1, "%s: only the live images", test.name)
	}
	// What PostgreSQL refuses is found when files are there already.
	file := write(t, filepath.Join(t.TempDir(), "backup.age"), string(without(t, content, identity, "database.dump", "digests")))
	_, err = run(t, "restore", file, "--data-dir", fresh, "--identity", mine)
	require.ErrorContains(t, err, "fill the database: exit status 1: pg_restore: error: ")
	entries, err := os.ReadDir(fresh)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the live images")
	elsewhere := filepath.Join(t.TempDir(), "keys")
	_, err = run(t, "restore", file, "--data-dir", fresh, "--key-file", elsewhere, "--identity", mine)
	require.ErrorContains(t, err, "fill the database: ")
	require.NoFileExists(t, elsewhere, "the keys outside of the folder go too")
	write(t, elsewhere, "of another service\n")
	_, err = run(t, "restore", made[0], "--data-dir", fresh, "--key-file", elsewhere, "--identity", mine)
	require.ErrorContains(t, err, "require a key file that is not there, found "+elsewhere)
	require.FileExists(t, elsewhere)
	_, err = run(t, "restore", made[0], "--data-dir", fresh, "--identity", mine)
	require.NoError(t, err, "a good one after all")
}

// without writes the archive again and leaves a member out, and out of the digests where that is asked for.
func without(t *testing.T, content []byte, identity *age.X25519Identity, name string, also ...string) []byte {
	t.Helper()
	opened, err := age.Decrypt(bytes.NewReader(content), identity)
	require.NoError(t, err)
	var out bytes.Buffer
	sealed, err := age.Encrypt(&out, identity.Recipient())
	require.NoError(t, err)
	from, to, found := tar.NewReader(opened), tar.NewWriter(sealed), false
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if header.Name == name {
			found = true
			continue
		}
		text, err := io.ReadAll(from)
		require.NoError(t, err)
		if header.Name == "digests.json" && len(also) > 0 {
			digests := map[string]string{}
			require.NoError(t, json.Unmarshal(text, &digests))
			delete(digests, name)
			text, err = json.Marshal(digests)
			require.NoError(t, err)
			header.Size = int64(len(text))
		}
		require.NoError(t, to.WriteHeader(header))
		_, err = to.Write(text)
		require.NoError(t, err)
	}
	require.True(t, found, name)
	require.NoError(t, errors.Join(to.Close(), sealed.Close()))
	return out.Bytes()
}

func TestBackupsAreEncryptedForSomebody(t *testing.T) {
	t.Parallel()
	short := write(t, filepath.Join(t.TempDir(), "passphrase"), "short\n")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "require --backup-to"},
		{[]string{"--backup-to", "/tmp"}, "require --backup-passphrase-file or --backup-recipients: a backup opens all secrets of the service"},
		{[]string{"--backup-to", "/tmp", "--backup-passphrase-file", short}, "require at least 12 characters in the first line, found 5"},
		{[]string{"--backup-to", "/tmp", "--backup-passphrase-file", short, "--backup-recipients", "age1x"}, "cannot be combined"},
		{[]string{"--backup-to", "/tmp", "--backup-recipients", "age1x"}, "read --backup-recipients: "},
	} {
		_, err := run(t, append([]string{"backup", "--data-dir", t.TempDir()}, test.args...)...)
		require.ErrorContains(t, err, test.want, strings.Join(test.args, " "))
	}
	empty, good := filepath.Join(t.TempDir(), "d"), write(t, filepath.Join(t.TempDir(), "passphrase"), "correct horse battery\n")
	_, err := run(t, "backup", "--data-dir", empty, "--backup-to", t.TempDir(), "--backup-passphrase-file", good)
	require.ErrorContains(t, err, "no service has been started with these settings: ")
	require.NoDirExists(t, empty, "nothing is made")
	_, err = run(t, "restore", short, "--data-dir", filepath.Join(t.TempDir(), "d"))
	require.ErrorContains(t, err, "require --backup-passphrase-file or --identity: backups are encrypted")
}
