// Program build makes the system that the bench's machines boot, where it is missing, and
// prints where its parts are.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"slipway/test/bench/coreos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the bench's system:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	_, cargoErr := exec.LookPath("cargo")
	if cargoErr != nil {
		fmt.Fprintln(os.Stderr, "no cargo: the system is built without coreos-installer, and installs nothing")
	}
	made, err := coreos.Build(ctx, coreos.Cache{Dir: coreos.Dir(cache), Log: os.Stderr}, coreos.Options{
		Mirror: os.Getenv("DEBIAN_MIRROR"), Nmstatectl: os.Getenv("NMSTATECTL"), Installer: cargoErr == nil,
	})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(made)
}
