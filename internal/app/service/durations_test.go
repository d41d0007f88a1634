package service_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
)

// noVariables is an empty environment.
type noVariables struct{}

func (noVariables) Environ() []string               { return nil }
func (noVariables) LookupEnv(string) (string, bool) { return "", false }

func TestServiceDoesNotStartWithARetentionThatTemporalRefuses(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"0s":   "read --workflow-retention: require whole days in hours, at least 24h, such as 720h, found 0s",
		"-24h": "read --workflow-retention: require whole days in hours, at least 24h, such as 720h, found -24h0m0s",
		"36h":  "read --workflow-retention: require whole days in hours, at least 24h, such as 720h, found 36h0m0s",
		"48h":  "begun",
	} {
		require.EqualError(t, startWith(t, "--workflow-retention="+given), want, given)
	}
}

func TestServiceDoesNotStartWithDurationsThatCannotWork(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"--heartbeat=3s":          "read --heartbeat: require a duration of at least 15s, found 3s",
		"--heartbeat=15s":         "begun",
		"--decision-timeout=0s":   "begun", // no failure waits
		"--decision-timeout=-1h":  "read --decision-timeout: require a duration of at least 0s, found -1h0m0s",
		"--image-expiration=0s":   "read --image-expiration: require a duration of at least 1s, found 0s",
		"--oidc-clock-skew=-1s":   "read --oidc-clock-skew: require a duration of at least 0s, found -1s",
		"--oidc-clock-skew=0s":    "begun",
		"--oidc-session=0s":       "read --oidc-session: require a duration of at least 1s, found 0s",
		"--sources-interval=-30m": "read --sources-interval: require a duration of at least 1s, found -30m0s",
	} {
		require.EqualError(t, startWith(t, given), want, given)
	}
	require.EqualError(t, startWith(t, "--heartbeat=0s", "--oidc-session=1ms"),
		"read --heartbeat: require a duration of at least 15s, found 0s\nread --oidc-session: require a duration of at least 1s, found 1ms")
}

func TestServiceDoesNotStartWithLimitsOnRequestsThatCannotWork(t *testing.T) {
	t.Parallel()
	const rate = "require RATE:BURST, requests a second and at once, at least as many, such as 100:500, or 0, found "
	for given, want := range map[string]string{
		"--request-rates=agent=10:20": "begun",
		"--request-rates=user=10":     `read --request-rates: user: ` + rate + `"10"`,
		"--request-rates=user=10:9":   `read --request-rates: user: ` + rate + `"10:9"`,
		"--request-rates=guest=1:1": "read --request-rates: require ROLE=RATE:BURST with a role of address, admin, agent, controller, " +
			`foreign, image, kube, registrar, user, viewer, watcher, found "guest=1:1"`,
		"--request-rates=user=0,user=1:1": "read --request-rates: require each role once, found user twice",
		"--wrong-credentials=-1:5":        `read --wrong-credentials: ` + rate + `"-1:5"`,
		"--wrong-credentials=0":           "begun",
		"--large-bodies=0":                "read --large-bodies: require a number from 1 to 1000000, found 0",
		"--held-polls=2000000":            "read --held-polls: require a number from 0 to 1000000, found 2000000",
		"--heavy-reads=0":                 "begun",
		"--max-bytes-per-infra-env=many":  `read --max-bytes-per-infra-env: require a size such as 100GiB, or 0, found "many"`,
		"--max-bytes-per-tenant=-1":       `read --max-bytes-per-tenant: require a size such as 100GiB, or 0, found "-1"`,
		"--max-bytes-per-tenant=0":        "begun",
	} {
		require.EqualError(t, startWith(t, given), want, given)
	}
}

func TestServiceDoesNotStartBesideARestoreThatWasNotFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.EqualError(t, startWith(t, "--data-dir="+dir), "begun")
	mark := filepath.Join(dir, "restore-unfinished")
	require.NoError(t, os.WriteFile(mark, nil, 0o600))
	require.EqualError(t, startWith(t, "--data-dir="+dir),
		"a restore into "+dir+" was not finished ("+mark+"): empty the folder, and restore again")
}

// A duration that nothing limits would take a negative value.
func TestEveryDurationOfTheServiceHasALeast(t *testing.T) {
	t.Parallel()
	var command settings.API
	parser, err := kong.New(&command, kong.Name("slipway"), kong.Bind(&settings.Sources{Env: noVariables{}}))
	require.NoError(t, err)
	durations := 0
	for _, flag := range parser.Model.Flags {
		if typ := flag.Target.Type(); typ != reflect.TypeFor[time.Duration]() && typ != reflect.TypeFor[*time.Duration]() {
			continue
		}
		durations++
		require.ErrorContains(t, startWith(t, "--"+flag.Name+"=-1h"), "read --"+flag.Name, "CheckDurations of internal/app/settings limits it")
	}
	require.Positive(t, durations)
}

// startWith starts an API with these flags, and returns why it did not; "begun" if it did.
func startWith(t *testing.T, flags ...string) error {
	t.Helper()
	var command settings.API
	parser, err := kong.New(&command, kong.Name("slipway"), kong.Bind(&settings.Sources{Env: noVariables{}}))
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{"--database-url=x", "--data-dir=" + t.TempDir()}, flags...))
	require.NoError(t, err)
	s := service.New(&process.Process{Log: slog.New(slog.DiscardHandler), Env: noVariables{}, Now: time.Now}, command.Service)
	return s.Run(t.Context(), func(context.Context) error { return begun{} })
}

// begun is the start of the first part.
type begun struct{}

func (begun) Error() string { return "begun" }
