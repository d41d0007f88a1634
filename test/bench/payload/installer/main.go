// Command installer is the openshift-install of the bench: the stand-in of the
// simulation (internal/sim/payload/standin), with a bootstrap config that really starts a
// control plane. A release's installer runs it as
//
//	installer --settings FILE create ignition-configs --dir FOLDER …
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"slipway/internal/sim/payload/standin"
	"slipway/test/bench/payload/starter"
)

func main() {
	settings, args, err := read(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	os.Exit(standin.Main(standin.Call{
		Args: args, Env: os.Environ(), Now: time.Now(), Stdout: os.Stdout, Stderr: os.Stderr,
		Bootstrap: func(c standin.Cluster) ([]byte, error) { return starter.Config(c, settings, time.Now()) },
	}))
}

func read(args []string) (s starter.Settings, rest []string, err error) {
	if len(args) < 2 || args[0] != "--settings" {
		return s, nil, fmt.Errorf("require --settings FILE before the command, found %q", args)
	}
	data, err := os.ReadFile(args[1])
	if err != nil {
		return s, nil, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, nil, fmt.Errorf("read %s: %w", args[1], err)
	}
	return s, args[2:], nil
}
