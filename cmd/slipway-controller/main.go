// Command slipway-controller brings the installation of a cluster to its end; it runs
// in the new cluster, or outside of it with a kubeconfig.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"slipway/controller"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/platform/redact"
	"slipway/internal/version"
)

func main() {
	var args arguments
	parser := kong.Parse(&args, kong.Name("slipway-controller"),
		kong.Description("Brings the installation of a cluster to its end."), kong.UsageOnError(),
		kong.Vars{"version": "slipway-controller " + version.Read().String()})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, args)
	if errors.Is(err, context.Canceled) {
		return // ended by a signal; the next controller continues
	}
	parser.FatalIfErrorf(err)
}

func run(ctx context.Context, args arguments) error {
	logFile, closeLog, err := args.openLog()
	if err != nil {
		return err
	}
	defer closeLog()
	carrier, err := client.Transport(args.CACertPath, args.SkipCertVerification)
	if err != nil {
		return err
	}
	token, err := args.token()
	if err != nil {
		return err
	}
	kube, err := args.kubeConfig()
	if err != nil {
		return err
	}
	if err := useProxy(carrier, kube); err != nil {
		return err
	}
	return controller.Run(ctx, controller.Options{
		ClusterID: args.ClusterID,
		Service: client.New(client.Options{
			BaseURL: args.InventoryURL, Token: token, HTTPClient: carrier, UserAgent: "slipway-controller",
		}),
		Kube:                kube,
		Namespace:           args.Namespace,
		CheckClusterVersion: args.CheckClusterVersion,
		Interval:            args.Interval,
		LogsInterval:        args.LogsInterval,
		LogFile:             logFile.Name(),
		SeenFile:            args.seenFile(),
		Runner:              hostexec.Exec{},
		MustGatherImages:    args.MustGatherImage,
		NotifyReboots:       args.NotifyNumReboots,
		Log:                 slog.New(slog.NewTextHandler(io.MultiWriter(os.Stderr, logFile), &slog.HandlerOptions{ReplaceAttr: redact.Attr})),
	})
}

// seenFile returns where the cluster is kept for a restart, in a folder of this user alone; empty if there is none.
func (a arguments) seenFile() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	folder := filepath.Join(cache, "slipway-controller")
	if os.MkdirAll(folder, 0o700) != nil {
		return ""
	}
	return filepath.Join(folder, a.ClusterID.String()+".json")
}

// openLog opens the file the log is also written to, a temporary one if none was asked
// for: what is sent to the service is read from it.
func (a arguments) openLog() (file *os.File, done func(), err error) {
	if a.LogFile == "" {
		file, err := os.CreateTemp("", "slipway-controller-*.log")
		if err != nil {
			return nil, nil, fmt.Errorf("make a log file: %w", err)
		}
		return file, func() { _, _ = file.Close(), os.Remove(file.Name()) }, nil
	}
	file, err = os.OpenFile(a.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log file: %w", err)
	}
	return file, func() { _ = file.Close() }, nil
}
