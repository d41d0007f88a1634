// Program bench-cri is the container runtime of the bench's hosts: it runs containers as
// plain processes, and is no protection from anything.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"slipway/test/bench/kube/container"
	"slipway/test/bench/kube/cri"
)

// inside is the word that this program is started with in a container.
const inside = "container"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-cri:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == inside {
		return container.Run(args[1], time.Now)
	}
	flags := flag.NewFlagSet("bench-cri", flag.ContinueOnError)
	listen := flags.String("listen", "unix:///run/bench-cri.sock", "socket for the kubelet")
	config := flags.String("config", "/etc/bench/cri.json", "file with the programs of images")
	root := flags.String("root", "/var/lib/bench-cri", "folder for containers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("require flags only, found %q", flags.Args())
	}
	server, err := server(*config, *root)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serve(ctx, strings.TrimPrefix(*listen, "unix://"), server)
}

func server(config, root string) (*cri.Server, error) {
	content, err := os.ReadFile(config) //nolint:gosec // named by the caller
	if err != nil {
		return nil, err
	}
	var settings struct {
		Programs map[string]string `json:"programs"`
	}
	if err := json.Unmarshal(content, &settings); err != nil {
		return nil, fmt.Errorf("read %s: %w", config, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return cri.New(cri.Options{
		Root: root, Programs: settings.Programs, Container: []string{self, inside}, Boot: strings.TrimSpace(string(boot)),
		Now: time.Now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// serve answers until it is asked to end. Containers continue to run.
func serve(ctx context.Context, socket string, server *cri.Server) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return err
	}
	endpoint := grpc.NewServer()
	server.Register(endpoint)
	go func() {
		<-ctx.Done()
		endpoint.Stop() // a kubelet asks again
	}()
	return endpoint.Serve(listener)
}
