package process_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
)

func TestChatterOfLibrariesIsForDebugging(t *testing.T) {
	t.Parallel()
	const problem = "level=INFO msg=\"http: TLS handshake error\" part=ui\n"
	for level, want := range map[slog.Level]string{
		slog.LevelInfo:  problem,
		slog.LevelDebug: "level=DEBUG msg=\"tls cert unchanged on disk; returning cached cert\" part=ui\n" + problem,
	} {
		var out bytes.Buffer
		withoutTime := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		plain := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime}))
		log := process.ForLibraries(plain).With("part", "ui")
		log.Info("tls cert unchanged on disk; returning cached cert")
		log.Info("http: TLS handshake error")
		require.Equal(t, want, out.String())
	}
}

func TestLogOfAProcessHasNoSecrets(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		log := process.NewLogger(&out, slog.LevelInfo, format).With("proxy", "http://user:c4nary@192.0.2.9")
		log.Warn("read http://user:c4nary@192.0.2.9", "error", errors.New(`answered {"password":"c4nary"}`),
			"args", []string{"rd.iscsi.password=c4nary"})
		require.NotContains(t, out.String(), "c4nary")
		require.Equal(t, 4, strings.Count(out.String(), "[redacted]"), out.String())
	}
}
