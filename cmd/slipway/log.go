package main

import (
	"context"
	"io"
	"log/slog"
)

// logOptions are the --log-* flags.
type logOptions struct {
	Format string     `default:"text" enum:"text,json" env:"SLIPWAY_LOG_FORMAT" help:"How to write the log: text or json."`
	Level  slog.Level `default:"info" env:"SLIPWAY_LOG_LEVEL" help:"What to log: debug, info, warn or error."`
}

func (o logOptions) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.Level}
	if o.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// quieter is the log of a part that has more to say than our users want to read.
func quieter(logger *slog.Logger, part string, level slog.Level) *slog.Logger {
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
