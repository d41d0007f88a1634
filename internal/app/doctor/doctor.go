// Package doctor examines the set-up of a service on its machine: what would keep it from starting, hosts from reaching it, and
// installations from getting what they need. It changes nothing.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/release"
)

// Level says how bad a finding is.
type Level int

// Levels, from the best.
const (
	OK Level = iota
	Warning
	Problem
)

// String returns the level as people read it.
func (l Level) String() string { return [...]string{"ok", "warning", "problem"}[l] }

// MarshalText writes the level as programs read it.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what helps; empty when nothing has to be done
}

// Machine reads the machine.
type Machine struct {
	// Clock reports whether the kernel's clock is synchronised.
	Clock func() (bool, error)
	// Free returns the free bytes of the file system of a folder.
	Free func(folder string) (uint64, error)
	// Descriptors returns how many files a process may open.
	Descriptors func(pid int) (uint64, error)
	// Resolve returns the addresses of a name.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	// Own lists the addresses of the machine.
	Own func() ([]netip.Addr, error)
}

// Outside says what a service needs from other machines.
type Outside struct {
	Mirrors      []release.Mirror
	TrustBundles []string // PEM, of the settings
	Releases     []string // images of the releases that are offered
	OSImages     openshift.OSImages
	Downloaded   int // live images that are here
	// AskImage returns an error unless a live image could be downloaded.
	AskImage func(context.Context, openshift.OSImage) error
	Syncs    bool // with the update service
}

// Reader reads settings as a start does.
type Reader interface {
	CheckSettings(listen string) error
	Outside() Outside
}

// Patient has a service and its machine.
type Patient struct {
	Settings settings.Up
	Reader   Reader
	// Ports returns an error when a port of the bundled Temporal is taken.
	Ports   func(first int) error
	Machine Machine
	Process *process.Process
}

// patience bounds each request of a check.
const patience = 5 * time.Second

// examination is the state of one run.
type examination struct {
	Patient
	outside Outside
	carrier *http.Client // to other machines
	// listens is set when a service answers at the address of the settings.
	listens bool
	found   []Finding
}

// Examine runs all checks. Settings that cannot be read are the only finding: the others would be about other settings.
func Examine(ctx context.Context, p Patient) []Finding {
	e := &examination{Patient: p}
	if err := p.Reader.CheckSettings(p.Settings.Listen); err != nil {
		e.problem("settings", err.Error(), "correct the setting; slipway config show prints each with its origin")
		return e.found
	}
	e.ok("settings", "can be read")
	e.outside = p.Reader.Outside()
	e.carrier = newCarrier(e.outside.TrustBundles)
	for _, check := range []func(context.Context){
		e.running, e.listener, e.address, e.certificate, e.dataFolder, e.files, e.database, e.temporal, e.clock, e.descriptors, e.programs,
		e.registries, e.osImages, e.updateService,
	} {
		check(ctx)
	}
	return e.found
}

// Ready runs one check: a service that does not answer, or is not ready, is a problem.
func Ready(ctx context.Context, p Patient) []Finding {
	e := &examination{Patient: p}
	e.running(ctx)
	if !e.listens {
		e.found = nil
		e.problem("service", "does not answer at "+p.Settings.Listen, "its log names the cause")
	}
	return e.found
}

func (e *examination) ok(check, found string) {
	e.found = append(e.found, Finding{Check: check, Found: found})
}

func (e *examination) warning(check, found, do string) {
	e.found = append(e.found, Finding{check, Warning, found, do})
}

func (e *examination) problem(check, found, do string) {
	e.found = append(e.found, Finding{check, Problem, found, do})
}

// Worst returns the highest level of findings.
func Worst(found []Finding) Level {
	worst := OK
	for _, f := range found {
		worst = max(worst, f.Level)
	}
	return worst
}

// Count returns how many problems and warnings there are, for a sentence.
func Count(found []Finding) string {
	counts := map[Level]int{}
	for _, f := range found {
		counts[f.Level]++
	}
	return fmt.Sprintf("found %d problems and %d warnings", counts[Problem], counts[Warning])
}

// Print writes findings for people: one line each, and what to do below it.
func Print(w io.Writer, found []Finding) error {
	var text strings.Builder
	for _, f := range found {
		fmt.Fprintf(&text, "%-8s %-15s %s\n", f.Level, f.Check, strings.ReplaceAll(f.Found, "\n", "; "))
		if f.Do != "" {
			fmt.Fprintf(&text, "%-24s -> %s\n", "", f.Do)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// PrintJSON writes findings for programs.
func PrintJSON(w io.Writer, found []Finding) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}
