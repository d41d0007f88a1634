package attack_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// unprivileged is the id of a user without files and groups on this machine.
const unprivileged = 65534

// as runs lines of a shell as a user of this machine, with text on its input.
func (a *attempt) as(uid uint32, input, lines string, args ...string) string {
	c := exec.Command("/bin/sh", append([]string{"-c", lines, "sh"}, args...)...)
	c.Dir, c.Env = "/", []string{"PATH=/usr/bin:/bin"}
	c.Stdin = strings.NewReader(input)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	_ = c.Run() // what it prints counts
	return out.String()
}

// otherUserOfTheMachine reads files, processes and sockets of the service as a user of its machine, and uses what it finds.
func otherUserOfTheMachine(a *attempt) {
	if os.Getuid() != 0 {
		a.Skip("SKIP: trying what another user of this machine reads needs root")
	}
	var files []string
	require.NoError(a, filepath.WalkDir(a.dataDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return nil
	}))
	const readAll = `while read -r f; do head -c 1 "$f" >/dev/null 2>&1 && echo "$f"; done; true`
	list := strings.Join(files, "\n") + "\n"
	require.Empty(a, a.as(unprivileged, list, readAll), "THE ATTACK SUCCEEDED: files that others read")
	a.stopped("none of %d files opens", len(files))
	a.controls++
	require.Greater(a, strings.Count(a.as(0, list, readAll), "\n"), 100, "the files are there")

	pids := fmt.Sprint(a.service.Process.Pid)
	pids += " " + strings.ReplaceAll(a.as(0, "", `pgrep -P "$1"`, pids), "\n", " ")
	const look = `for p in $1; do for f in environ maps mem cmdline status; do tr '\0' ' ' </proc/$p/$f 2>/dev/null; done; done`
	seen := a.as(unprivileged, "", look, pids)
	require.Contains(a, seen, "--data-dir", "arguments are open to all")
	require.Empty(a, secretsIn(seen), "THE ATTACK SUCCEEDED: secrets in what /proc shows")
	require.NotContains(a, seen, "PATH=", "THE ATTACK SUCCEEDED: the environment is open")
	a.steps++
	a.controls++
	require.Contains(a, a.as(0, "", look, pids), "PATH=", "the environment is there")
	for _, word := range strings.Fields(seen) {
		if len(word) > 20 && !strings.Contains(word, "/") {
			a.refused(bearer(word), get(v2+"/clusters"), 401)
		}
	}

	const asks = `for f in /usr/lib/postgresql/*/bin/psql; do "$f" -w -h "$1" -U slipway -d slipway -Atc "select count(*) from tokens"; done`
	socket := filepath.Join(a.dataDir, "run")
	require.NotRegexp(a, `(?m)^\d+$`, a.as(unprivileged, "", asks, socket), "THE ATTACK SUCCEEDED: the database answers")
	a.stopped("the database's socket does not open")
	a.controls++
	require.Regexp(a, `(?m)^\d+$`, a.as(0, "", asks, socket))

	temporal := a.temporalAddress()
	c, err := tls.Dial("tcp", temporal, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // an attacker's
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		_, err = c.Read(make([]byte, 1))
		_ = c.Close()
	}
	require.ErrorContains(a, err, "certificate required", "THE ATTACK SUCCEEDED")
	a.stopped("Temporal requires a certificate")
}

// temporalAddress returns where the bundled Temporal listens.
func (w *target) temporalAddress() string {
	for n, argument := range w.service.Args {
		if argument == "--temporal-port" {
			return "127.0.0.1:" + w.service.Args[n+1]
		}
	}
	return ""
}

// writerOfTheDatabasePromotesATokenOfHis changes rows of tokens, as whoever is the database's user can, and uses the tokens.
func writerOfTheDatabasePromotesATokenOfHis(a *attempt) {
	if os.Getuid() != 0 {
		a.Skip("SKIP: the database's socket opens for the service's user")
	}
	made := a.must(a, a.admin, post(own+"/tokens", map[string]any{"user_name": "trent", "role": "user", "org_id": "globex"}))
	id, trent := made.field("id"), bearer(made.field("token"))
	db, err := pgx.Connect(a.Context(), fmt.Sprintf("host=%s user=slipway dbname=slipway", filepath.Join(a.dataDir, "run")))
	require.NoError(a, err)
	defer db.Close(context.WithoutCancel(a.Context()))
	write := func(sql string, args ...any) {
		done, err := db.Exec(a.Context(), sql, args...)
		require.NoError(a, err)
		require.EqualValues(a, 1, done.RowsAffected())
	}
	goals := []request{
		post(own+"/tokens", map[string]any{"user_name": "trent", "role": "admin"}), get(a.fileOf(a.done, "kubeconfig")),
		get(address("/clusters/%s", a.done.cluster)), get("/temporal/api/v1/namespaces"),
	}
	a.control(trent, get(v2+"/clusters"))
	for _, change := range []string{
		"update tokens set role='admin' where id=$1", "update tokens set org_id='acme' where id=$1",
		"update tokens set user_name='admin', org_id='' where id=$1", "update tokens set user_name='alice', org_id='acme' where id=$1",
	} {
		write(change, id)
		for _, goal := range goals {
			a.refused(trent, goal, 401)
		}
		write("update tokens set role='user', org_id='globex', user_name='trent' where id=$1", id)
		a.control(trent, get(v2+"/clusters"))
	}
	// A row of an administrator with the id of the token, and a row that has an administrator's id.
	write("update tokens set id=gen_random_uuid() where id=$1", id)
	a.refused(trent, get(v2+"/clusters"), 401)
	for _, goal := range goals {
		a.control(a.admin, goal)
	}
}
