package container

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// longestLine of a log file, in bytes; what is longer is written in parts.
const longestLine = 16 << 10

// log is a container's log file in the format that kubelets read:
// 2006-01-02T15:04:05.999999999Z stdout F text.
type log struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	file *os.File // nil where it is not read

	readers sync.WaitGroup
}

func openLog(path string, now func() time.Time) (*log, error) {
	l := &log{path: path, now: now}
	if path == "" {
		return l, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a kubelet's own folder
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640) //nolint:gosec // named by the kubelet
	l.file = file
	return l, err
}

// reopen writes to a new file of the same name from now on; without one, to the old one.
func (l *log) reopen() {
	another, err := openLog(l.path, l.now)
	if err != nil || another.file == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Close()
	l.file = another.file
}

// pipe returns what a program writes a stream to.
func (l *log) pipe(stream string) (*os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.readers.Go(func() {
		defer from.Close()
		l.copy(stream, from)
	})
	return to, nil
}

func (l *log) copy(stream string, from io.Reader) {
	lines := bufio.NewReaderSize(from, longestLine)
	for {
		line, partial, err := lines.ReadLine()
		if err != nil {
			return
		}
		tag := "F"
		if partial {
			tag = "P"
		}
		l.write(fmt.Sprintf("%s %s %s %s\n", l.now().UTC().Format(time.RFC3339Nano), stream, tag, line))
	}
}

// write drops what a full disk does not take: the program continues.
func (l *log) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		io.WriteString(l.file, line) //nolint:errcheck // see above
	}
}

// finish waits until all that was said is written.
func (l *log) finish() { l.readers.Wait() }

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
	}
}
