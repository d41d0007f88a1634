// Program reviews runs the tests that hold what readings of the real systems found: every
// point of list.tsv with its tests, or the reason why it has none. It prints one table,
// and ends with 1 when a test is missing, skipped or fails.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// list has a line for each point: its id, what a real system does or needs, and the tests
// that hold it (package:Name, separated by spaces) or a dash and the reason why none does.
//
//go:embed list.tsv
var list string

// point is one finding.
type point struct {
	id, what string
	tests    []test
	reason   string // why there is no test
}

// test is a top-level test and the folder of its package.
type test struct{ folder, name string }

func main() {
	only := flag.String("only", "", "the first word of the ids to look at; empty: all")
	flag.Parse()
	points, err := read(list)
	if *only != "" {
		points = slices.DeleteFunc(points, func(p point) bool { return !strings.HasPrefix(p.id, *only+" ") })
	}
	if err == nil {
		err = prove(points, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(text string) ([]point, error) {
	var points []point
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("test/reviews/list.tsv: require id, what and tests separated by tabs, found %q", line)
		}
		p := point{id: fields[0], what: fields[1]}
		if reason, none := strings.CutPrefix(fields[2], "- "); none {
			p.reason = reason
		} else {
			for entry := range strings.FieldsSeq(fields[2]) {
				folder, name, ok := strings.Cut(entry, ":")
				if !ok {
					return nil, fmt.Errorf("test/reviews/list.tsv: require package:Test in %s, found %q", p.id, entry)
				}
				p.tests = append(p.tests, test{folder, name})
			}
		}
		points = append(points, p)
	}
	return points, nil
}

// prove runs the tests of all points and prints how they end.
func prove(points []point, out io.Writer) error {
	names := map[string][]string{}
	for _, p := range points {
		for _, t := range p.tests {
			names[t.folder] = append(names[t.folder], t.name)
		}
	}
	results := map[test]string{}
	for _, folder := range slices.Sorted(maps.Keys(names)) {
		if err := run(folder, names[folder], results); err != nil {
			return err
		}
	}
	failed := 0
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, p := range points {
		if p.reason != "" {
			fmt.Fprintf(table, "%s\t%s\tnot built: %s\t\n", p.id, p.what, p.reason)
		}
		for _, t := range p.tests {
			result := results[t]
			if result == "" {
				result = "missing"
			}
			if result != "pass" {
				failed++
			}
			fmt.Fprintf(table, "%s\t%s\t%s %s\t%s\n", p.id, p.what, t.folder, t.name, result)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d tests are missing, skipped or fail", failed)
	}
	return nil
}

// run writes how each top-level test of a package ends: pass, fail or skip.
func run(folder string, names []string, results map[test]string) error {
	pattern := "^(" + strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), "|") + ")$"
	cmd := exec.Command("go", "test", "-vet=off", "-json", "-run", pattern, "./"+folder)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if failure := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failure) {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		// go doc test2json
		var event struct{ Action, Test string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go test -json %s: %w", folder, err)
		}
		if slices.Contains([]string{"pass", "fail", "skip"}, event.Action) && event.Test != "" {
			results[test{folder, event.Test}] = event.Action
		}
	}
}
