package postgres

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// messageLevels maps the severities PostgreSQL prints to levels of this program's log. FATAL ends one
// connection, not the server, and is usual while the server starts or stops.
var messageLevels = map[string]slog.Level{
	"LOG":     slog.LevelDebug,
	"WARNING": slog.LevelWarn,
	"ERROR":   slog.LevelWarn,
	"FATAL":   slog.LevelDebug,
	"PANIC":   slog.LevelError,
}

// messages writes the server's output to the log. The pipe belongs to this process and outlives each server: a
// process waiting for the pipe of a killed server would wait for the server's orphans too, which hold it open.
type messages struct {
	logger *slog.Logger
	writer *os.File

	mu   sync.Mutex
	last string // the newest line that may explain why the server ended
}

func newMessages(logger *slog.Logger) (*messages, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe for database messages: %w", err)
	}
	m := &messages{logger: logger, writer: writer}
	go m.pass(reader)
	return m, nil
}

func (m *messages) pass(reader *os.File) {
	defer reader.Close()
	lines := bufio.NewScanner(reader)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		severity, text, found := strings.Cut(lines.Text(), ":  ")
		level, known := messageLevels[severity]
		if !known {
			level, text = slog.LevelDebug, lines.Text() // DETAIL, HINT, continued lines, the dynamic linker
		}
		crashed := strings.Contains(text, "was terminated by signal")
		if crashed {
			level = slog.LevelWarn
		}
		if !found || crashed || severity == "FATAL" || severity == "PANIC" {
			m.remember(text)
		}
		m.logger.Log(context.Background(), level, "database message", "text", text)
	}
}

func (m *messages) remember(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = text
}

// reason returns the most likely cause of the server's end.
func (m *messages) reason() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == "" {
		return "it printed no reason"
	}
	return m.last
}

// forget drops the lines so far: a server that answers has no reason to end yet.
func (m *messages) forget() { m.remember("") }

// close ends the pipe. Processes of the server that still hold the other end write into the void from then on.
func (m *messages) close() { _ = m.writer.Close() }
