package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// repeatPause is the minimum time between two equal messages of the server. While its database is unreachable
// it logs hundreds a second.
const repeatPause = 10 * time.Second

// quietMessages are warnings and errors that mean nothing for a bundled server.
var quietMessages = []struct{ message, err, reason string }{
	{"HTTP API port has not been set.", "", "that API is for calls between namespaces, and there is one"},
	{"Queue reader unable to retrieve tasks", "shard status unknown", "shards are still being acquired; it tries again"},
	{"Failed to poll for task.", "Namespace slipway is not found", "the first start: it is created a moment later"},
	{"TrailerToContextMetadataInterceptor: Trailer had metadata", "", "of the server's own workflows, which have no caller"},
	{"timed out waiting for worker deployment version to appear in user data", "", "a worker that ends right after its start"},
	{"service failures", "because workflow is closing", "of the server's workflow of a worker's version; it tries again"},
	{"service failures", "task queue closed", "a worker that ends closes its own queue while it still polls it"},
	{"Failed to send heartbeat", "Namespace slipway is not found", "it is created a moment later"},
}

// serverLog is the Temporal server's logger on top of slog.
type serverLog struct {
	logger *slog.Logger
	shared *serverLogState
}

type serverLogState struct {
	now      func() time.Time
	fail     func(error) // called with an error on which the server would end the process
	stopping atomic.Bool // what fails from here on fails because of it

	mu    sync.Mutex
	lines map[string]*repetition // by message, which the server's authors keep constant
}

type repetition struct {
	last    time.Time
	skipped int
}

var _ log.WithLogger = (*serverLog)(nil)

func newServerLog(logger *slog.Logger, now func() time.Time, fail func(error)) *serverLog {
	return &serverLog{logger: logger, shared: &serverLogState{now: now, fail: fail, lines: map[string]*repetition{}}}
}

func (l *serverLog) Debug(msg string, tags ...tag.Tag)  { l.log(slog.LevelDebug, msg, tags) }
func (l *serverLog) Info(msg string, tags ...tag.Tag)   { l.log(slog.LevelInfo, msg, tags) }
func (l *serverLog) Warn(msg string, tags ...tag.Tag)   { l.log(slog.LevelWarn, msg, tags) }
func (l *serverLog) Error(msg string, tags ...tag.Tag)  { l.log(slog.LevelError, msg, tags) }
func (l *serverLog) DPanic(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

func (l *serverLog) Panic(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	panic(msg)
}

// Fatal ends the calling goroutine, because the server's code does not expect Fatal to return, and reports the
// reason. Ending the process is up to its main function.
func (l *serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	if cause := errorText(tags); cause != "" {
		msg += ": " + cause
	}
	l.shared.fail(errors.New(msg))
	runtime.Goexit()
}

func isQuiet(msg string, tags []tag.Tag) bool {
	for _, quiet := range quietMessages {
		if strings.HasPrefix(msg, quiet.message) && strings.Contains(errorText(tags), quiet.err) {
			return true
		}
	}
	return false
}

func errorText(tags []tag.Tag) string {
	for _, t := range tags {
		if strings.EqualFold(t.Key(), "error") { // the client library within the server writes it with a capital
			return slog.AnyValue(t.Value()).String()
		}
	}
	return ""
}

// With returns a logger that adds tags to every line.
func (l *serverLog) With(tags ...tag.Tag) log.Logger {
	args := make([]any, 0, len(tags))
	for _, t := range tags {
		args = append(args, attr(t))
	}
	return &serverLog{logger: l.logger.With(args...), shared: l.shared}
}

func (l *serverLog) log(level slog.Level, msg string, tags []tag.Tag) {
	ctx := context.Background()
	if l.shared.stopping.Load() {
		level = slog.LevelDebug
	}
	if !l.logger.Enabled(ctx, level) || isQuiet(msg, tags) {
		return
	}
	skipped, due := l.shared.due(msg)
	if !due {
		return
	}
	attrs := make([]slog.Attr, 0, len(tags)+1)
	for _, t := range tags {
		attrs = append(attrs, attr(t))
	}
	if skipped > 0 {
		attrs = append(attrs, slog.Int("repeated", skipped))
	}
	l.logger.LogAttrs(ctx, level, msg, attrs...)
}

// due reports whether a message may be written again, and how many were suppressed meanwhile.
func (s *serverLogState) due(msg string) (skipped int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	line, known := s.lines[msg]
	if !known {
		if len(s.lines) > 1000 {
			clear(s.lines) // some messages are not that constant
		}
		line = &repetition{}
		s.lines[msg] = line
	}
	if known && now.Sub(line.last) < repeatPause {
		line.skipped++
		return 0, false
	}
	skipped, line.skipped, line.last = line.skipped, 0, now
	return skipped, true
}

func attr(t tag.Tag) slog.Attr { return slog.Any(t.Key(), t.Value()) }
