// Command slipway is the service that installs OpenShift clusters, and its command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app"
	"slipway/internal/app/process"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// The first signal starts the shutdown; the second one is no longer caught and kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	p := &process.Process{Stdout: os.Stdout, Stderr: os.Stderr, Env: envconfig.EnvLookupOS, Now: time.Now}
	return app.Main(ctx, p, args)
}
