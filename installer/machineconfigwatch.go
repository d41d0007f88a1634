package installer

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// enoughDeaths are the times that a program has to end with the same sentence before it counts as one that cannot
	// run. Its container is started again after 10, 20, 40 and 80 seconds: what heals by then, such as a registry that does not
	// answer, does not count.
	enoughDeaths = 5
	// logTail bounds what is read of a container's log, in bytes.
	logTail = 1 << 20
)

// machineConfigPrograms make and serve the configuration of the other hosts, each in a container of the bootstrap host.
var machineConfigPrograms = []struct{ name, logs string }{
	{"machine config controller", "/var/log/containers/*_machine-config-controller-*.log"},
	{"machine config server", "/var/log/containers/*_machine-config-server-*.log"},
}

// fatalLine matches a line with which a program ends, behind what the container engine writes before it.
var fatalLine = regexp.MustCompile(`(?m)^(?:\S+ std(?:out|err) [FP] )?F\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\]\n]*\] (.+)$`)

// configWatch reports that other hosts will never get their configuration: no unit fails when a container of the control plane
// ends again and again.
type configWatch struct {
	*Installer
	// deaths are the fatal lines seen so far, by program and sentence. The engine removes logs of earlier containers.
	deaths map[string]map[string]bool
}

func (i *Installer) watchConfigs() *configWatch {
	return &configWatch{Installer: i, deaths: map[string]map[string]bool{}}
}

// check returns an error when a program has ended with one sentence too often, and its newest container did so too.
func (w *configWatch) check() error {
	for _, program := range machineConfigPrograms {
		logs := w.newestLast(program.logs)
		last := ""
		for n, name := range logs {
			sentence := w.count(program.name, name)
			if n == len(logs)-1 {
				last = sentence
			}
		}
		if last == "" || len(w.deaths[program.name+last]) < enoughDeaths {
			continue
		}
		text := w.redactor().Replace(last)
		text = strings.ToValidUTF8(text[:min(len(text), journalSize)], "")
		return fmt.Errorf("%s ended %d times, so that no other host gets its configuration: %s",
			program.name, len(w.deaths[program.name+last]), text)
	}
	return nil
}

// count adds the fatal lines of a log and returns the sentence of the last one, empty if there is none.
func (w *configWatch) count(program, name string) string {
	content, err := readTail(name)
	if err != nil {
		return "" // rotated away
	}
	last := ""
	for _, match := range fatalLine.FindAllSubmatch(content, -1) {
		last = string(bytes.TrimSpace(match[1]))
		key := program + last
		if w.deaths[key] == nil {
			w.deaths[key] = map[string]bool{}
		}
		w.deaths[key][string(match[0])] = true // it has the time and the process
	}
	return last
}

// newestLast lists logs in the order of their last lines.
func (w *configWatch) newestLast(pattern string) []string {
	names, err := filepath.Glob(w.Root.Path(pattern))
	if err != nil {
		return nil
	}
	written := make(map[string]int64, len(names))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			written[name] = info.ModTime().UnixNano()
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, there := written[name]; return !there })
	slices.SortStableFunc(names, func(a, b string) int { return int(min(max(written[a]-written[b], -1), 1)) })
	return names
}

// readTail reads the end of a file.
func readTail(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(info.Size()-logTail, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, logTail))
}
