// Package version says which version of Slipway a program is.
package version

import (
	"fmt"
	"runtime/debug"
	"time"
)

// Number is the version of every program of this module; CHANGELOG.md has a section for it.
const Number = "0.2.0"

// Info describes a build.
type Info struct {
	Version string `json:"version"`
	// Commit is the hash of the checkout the program was built from; empty when the build
	// had no version control information (-buildvcs=false).
	Commit string `json:"commit,omitempty"`
	// Time is the time of the commit; zero when it is not known.
	Time time.Time `json:"-"`
	// Modified reports whether the checkout had changes that are not in Commit.
	Modified bool `json:"modified,omitempty"`
	// Go is the version of the Go toolchain.
	Go string `json:"go"`
}

// Read returns the description of the running program.
func Read() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: Number}
	}
	return From(build)
}

// From describes the program that build belongs to.
func From(build *debug.BuildInfo) Info {
	info := Info{Version: Number, Go: build.GoVersion}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Time, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// Short returns the number and, when known, the commit: "0.1.0 1a2b3c4d5e6f modified".
func (i Info) Short() string {
	text := i.Version
	if i.Commit != "" {
		text += fmt.Sprintf(" %.12s", i.Commit)
	}
	if i.Modified {
		text += " modified"
	}
	return text
}

// String returns the text that programs print: "0.1.0 (commit 1a2b3c4d5e6f, go1.26.0)".
func (i Info) String() string {
	text := i.Go
	if i.Commit != "" {
		text = fmt.Sprintf("commit %.12s", i.Commit)
		if i.Modified {
			text += " modified"
		}
		text += ", " + i.Go
	}
	return fmt.Sprintf("%s (%s)", i.Version, text)
}
