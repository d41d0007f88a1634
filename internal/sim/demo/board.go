package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"slipway/internal/cli"
	"slipway/internal/cli/view"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// drawEvery is the time between two pictures on a terminal.
const drawEvery = 250 * time.Millisecond

// board shows the clusters: a picture redrawn in place, plain lines or JSON documents.
type board struct {
	terminal *cli.Terminal
	screen   *view.Screen
	json     bool

	mu       sync.Mutex
	names    []string // of the clusters, in the order they came
	clusters map[string]*wire.Cluster
	printed  map[string]string // last JSON document by place
}

func newBoard(k *Command, t *cli.Terminal) *board {
	screen := t.Screen()
	screen.Interactive = screen.Interactive && !k.Plain && !k.JSON
	return &board{terminal: t, screen: screen, json: k.JSON, clusters: map[string]*wire.Cluster{}, printed: map[string]string{}}
}

// run redraws until ctx ends, and once more then, to stay.
func (b *board) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = hostexec.Sleep(ctx, drawEvery)
		b.mu.Lock()
		b.draw()
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.screen.Freeze()
}

// set shows the present state of a cluster.
func (b *board) set(c *wire.Cluster) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clusters[c.Name] == nil {
		b.names = append(b.names, c.Name)
	}
	b.clusters[c.Name] = c
	if !b.screen.Interactive {
		b.draw()
	}
}

func (b *board) draw() {
	var lines []view.Line
	for _, name := range b.names {
		switch c := b.clusters[name]; {
		case b.json:
			b.printChanges(c)
		case b.screen.Interactive:
			lines = append(lines, view.Snapshot(c, b.terminal.Now())...)
		default:
			lines = append(lines, view.PlainSnapshot(c)...)
		}
	}
	if !b.json {
		b.screen.Draw(lines)
	}
}

// change is a JSON document of the demo.
type change struct {
	Time       time.Time `json:"time"`
	Message    string    `json:"message,omitempty"`
	Cluster    string    `json:"cluster,omitempty"`
	Host       string    `json:"host,omitempty"`
	Role       string    `json:"role,omitempty"`
	Status     string    `json:"status,omitempty"`
	Stage      string    `json:"stage,omitempty"`
	Percent    int       `json:"percent,omitempty"`
	Info       string    `json:"info,omitempty"`
	Kubeconfig string    `json:"kubeconfig,omitempty"`
	Seconds    float64   `json:"seconds,omitempty"`
}

func (b *board) printChanges(c *wire.Cluster) {
	b.print(c.Name, change{
		Cluster: c.Name, Status: string(c.Status), Stage: string(c.Progress.FinalizingStage), Percent: c.Progress.TotalPercentage,
		Info: c.StatusInfo,
	})
	for n := range c.Hosts {
		h := &c.Hosts[n]
		b.print(c.Name+"/"+h.ID.String(), change{
			Cluster: c.Name, Host: view.HostName(h), Role: string(h.Role), Status: string(h.Status), Stage: string(h.Progress.CurrentStage),
			Percent: h.Progress.InstallationPercentage, Info: h.StatusInfo,
		})
	}
}

// print writes a document unless it says what the last one of its place said.
func (b *board) print(place string, d change) {
	text, err := json.Marshal(d)
	if err != nil || place != "" && b.printed[place] == string(text) {
		return
	}
	b.printed[place] = string(text)
	d.Time = b.terminal.Now().UTC()
	if text, err = json.Marshal(d); err == nil {
		fmt.Fprintf(b.terminal.Out, "%s\n", text)
	}
}

// say prints a line that stays.
func (b *board) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.json {
		b.print("", change{Message: fmt.Sprintf(format, args...)})
		return
	}
	b.screen.Say(format, args...)
}

// follow prints lines as they come, but not the same one twice in a row for what its first word names.
func (b *board) follow(r io.Reader) {
	last := map[string]string{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || last[words[0]] == lines.Text() {
			continue
		}
		last[words[0]] = lines.Text()
		b.say("  %s", lines.Text())
	}
}

// summary says what came out.
func (b *board) summary(results []result, took time.Duration, s *service) {
	for _, r := range results {
		if b.json {
			b.mu.Lock()
			b.print(
				"",
				change{Cluster: r.name, Status: string(wire.ClusterStatusInstalled), Kubeconfig: r.kubeconfig, Seconds: r.took.Seconds()},
			)
			b.mu.Unlock()
			continue
		}
		b.say("cluster %s is installed after %s; kubeconfig: %s", r.name, r.took.Round(time.Second), r.kubeconfig)
	}
	b.say("all done after %s   API: %s   Temporal UI: %s", took.Round(time.Second), s.url, s.temporal)
}

// keep writes a kubeconfig where it outlives a temporary folder of the demo.
func (d *demo) keep(cluster string, content []byte) (string, error) {
	path := filepath.Join(d.dir, cluster+".kubeconfig")
	if d.DataDir == "" && !d.Keep {
		file, err := os.CreateTemp(filepath.Dir(d.dir), "slipway-"+cluster+"-*.kubeconfig")
		if err != nil {
			return "", fmt.Errorf("write the kubeconfig of %s: %w", cluster, err)
		}
		path = file.Name()
		if err := file.Close(); err != nil {
			return "", fmt.Errorf("write the kubeconfig of %s: %w", cluster, err)
		}
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", cluster, err)
	}
	return path, nil
}
