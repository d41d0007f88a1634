package process

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"slipway/internal/platform/redact"
)

// NewLogger returns the log that writes to w from a level on, in the format json or text, without the secrets that errors repeat.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: redact.Attr}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// chatter lists beginnings of lines that operators need not read. Their libraries print through the log package, which has one level.
var chatter = []string{
	"tls cert unchanged on disk", "loaded new tls key pair", "Loaded TLS CA cert from file", // github.com/temporalio/ui-server
}

// ForLibraries returns the log for libraries that use the log package.
func ForLibraries(logger *slog.Logger) *slog.Logger {
	return slog.New(chatterHandler{logger.Handler()})
}

// chatterHandler logs chatter as debug messages.
type chatterHandler struct{ slog.Handler }

func (h chatterHandler) Handle(ctx context.Context, record slog.Record) error {
	for _, line := range chatter {
		if strings.HasPrefix(record.Message, line) {
			if !h.Enabled(ctx, slog.LevelDebug) {
				return nil
			}
			record.Level = slog.LevelDebug
		}
	}
	return h.Handler.Handle(ctx, record)
}

func (h chatterHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return chatterHandler{h.Handler.WithAttrs(attrs)}
}

func (h chatterHandler) WithGroup(name string) slog.Handler {
	return chatterHandler{h.Handler.WithGroup(name)}
}

// Quieter returns the log of a part, with what is below level left out.
func Quieter(logger *slog.Logger, part string, level slog.Level) *slog.Logger {
	return slog.New(levelHandler{Handler: logger.Handler(), level: level}).With("part", part)
}

type levelHandler struct {
	slog.Handler
	level slog.Level
}

func (h levelHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelHandler{Handler: h.Handler.WithAttrs(attrs), level: h.level}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{Handler: h.Handler.WithGroup(name), level: h.level}
}
