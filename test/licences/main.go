// Program licences collects the licences of all modules that programs are made of, as whoever passes the programs on has to. It
// fails for a module without a licence that it knows, or with one that is not allowed.
package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed are the licences, by their names of https://spdx.org/licenses, that let a program be passed on under a licence of one's own.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-Source-Code", "GNU-All-permissive-Copying-License", "ISC", "MIT", "MIT-0",
	"MPL-2.0", "Unlicense", "CC0-1.0",
	"CC-BY-SA-4.0", // of the documentation of modules, beside another one for their code
}

// silent are modules that hold no licence: who passes programs on has to look up the licence in their repositories.
var silent = map[string]string{
	"github.com/cactus/go-statsd-client/statsd":    "a folder of a repository whose LICENSE is outside the module; of Temporal's server",
	"github.com/nexus-rpc/nexus-proto-annotations": "the module has no LICENSE; of Temporal's server",
}

// errNone: a module has no licence that is known.
var errNone = errors.New("require a file with a known licence, found none")

// files hold licences of modules and the texts that these require to be passed on.
var files = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents|unlicense)([-._].*)?$`)

func main() {
	out := flag.String("out", "", "folder to copy the licences to")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// module is one that programs are made of, and where its source is.
type module struct{ Path, Version, Dir string }

func run(ctx context.Context, w io.Writer, out string, programs []string) error {
	modules, err := modulesOf(ctx, programs)
	if err != nil {
		return err
	}
	known, err := assets.DefaultClassifier()
	if err != nil {
		return fmt.Errorf("read the known licences: %w", err)
	}
	counts := map[string]int{}
	var failed []error
	for _, m := range modules {
		found, err := collect(known, m, out)
		if why, known := silent[m.Path]; known && errors.Is(err, errNone) {
			fmt.Fprintf(w, "   - %s %s: %s\n", m.Path, m.Version, why)
			continue
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
			continue
		}
		counts[strings.Join(found, " and ")]++
	}
	for _, name := range slices.Sorted(mapKeys(counts)) {
		fmt.Fprintf(w, "%4d %s\n", counts[name], name)
	}
	fmt.Fprintf(w, "licences: %d modules of %d programs, %d without an allowed licence\n", len(modules), len(programs), len(failed))
	return errors.Join(failed...)
}

func mapKeys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// modulesOf reads from programs what they are made of, the standard library included.
func modulesOf(ctx context.Context, programs []string) ([]module, error) {
	if len(programs) == 0 {
		return nil, errors.New("require the programs to look at, found none")
	}
	versions := map[string]bool{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", program, err)
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			versions[m.Path+"@"+m.Version] = true
		}
	}
	args := []string{"mod", "download", "-json"}
	for v := range versions {
		args = append(args, v)
	}
	listed, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("find the sources of %d modules: %w", len(versions), err)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the standard library: %w", err)
	}
	modules := []module{{Path: "std", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))}}
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var m module
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go mod download says: %w", err)
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// collect copies the licences of a module, and returns their names.
func collect(known *classifier.Classifier, m module, out string) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !files.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, match := range known.Match(text).Matches {
			if match.MatchType == "License" {
				found = append(found, match.Name)
			}
		}
		if err := keep(filepath.Join(out, filepath.FromSlash(m.Path), e.Name()), text, out); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return nil, errNone
	}
	for _, name := range found {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("require one of the licences %s, found %s", strings.Join(allowed, ", "), name)
		}
	}
	return found, nil
}

func keep(path string, text []byte, out string) error {
	if out == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
