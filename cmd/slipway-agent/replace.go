package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"slipway/agent"
	"slipway/internal/platform/programsig"
)

const versionFlag = "--agent-version"

// replace lets the agent become the program it downloads: the same process, arguments
// and environment, with another version.
func replace(key programsig.PublicKey) agent.Replace {
	self, err := os.Executable()
	if err != nil {
		return agent.Replace{} // an agent that cannot find itself is not replaced
	}
	return agent.Replace{Key: key, Dir: filepath.Dir(self), Exec: func(program, version string) error {
		arguments := append([]string{program}, withVersion(os.Args[1:], version)...)
		if err := syscall.Exec(program, arguments, os.Environ()); err != nil { //nolint:gosec // its hash was compared with what the service named
			return fmt.Errorf("run %s: %w", program, err)
		}
		return nil
	}}
}

// withVersion puts another version into arguments.
func withVersion(arguments []string, version string) []string {
	var out []string
	for i := 0; i < len(arguments); i++ {
		switch {
		case arguments[i] == versionFlag:
			i++
		case strings.HasPrefix(arguments[i], versionFlag+"="):
		default:
			out = append(out, arguments[i])
		}
	}
	return append(slices.Clone(out), versionFlag, version)
}
