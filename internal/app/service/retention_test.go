package service_test

import (
	"context"
	"log/slog"
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
		var command settings.API
		parser, err := kong.New(&command, kong.Name("slipway"), kong.Bind(&settings.Sources{Env: noVariables{}}))
		require.NoError(t, err)
		_, err = parser.Parse([]string{"--workflow-retention=" + given, "--database-url=x", "--data-dir=" + t.TempDir()})
		require.NoError(t, err)
		s := service.New(&process.Process{Log: slog.New(slog.DiscardHandler), Env: noVariables{}, Now: time.Now}, command.Service)
		err = s.Run(t.Context(), func(context.Context) error { return begun{} })
		require.EqualError(t, err, want, given)
	}
}

// begun is the start of the first part.
type begun struct{}

func (begun) Error() string { return "begun" }
