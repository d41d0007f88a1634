// Program buildkube makes the archive with the programs of a cluster's hosts, where it is
// missing, and prints where it is. Its argument is the folder test/bench/kube.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"slipway/test/bench/coreos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the programs of a cluster's hosts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("require one folder, found %q", args)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	made, err := coreos.Kube(ctx, coreos.Cache{Dir: coreos.Dir(cache), Log: os.Stderr}, coreos.KubeOptions{Source: args[0]})
	if err != nil {
		return err
	}
	fmt.Println(made)
	return nil
}
