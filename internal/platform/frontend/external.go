// Package frontend connects to a Temporal frontend: the bundled server's or another one that
// the environment names. It prepares the namespace there, and serves Temporal's web UI as an
// HTTP handler. It does not import the Temporal server.
package frontend

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Namespace is the Temporal namespace of all workflows of Slipway.
const Namespace = "slipway"

// Connection describes how to reach a Temporal frontend, the bundled one or another.
type Connection struct {
	// Options are used to dial the frontend. The caller may add a data converter, a logger and so on.
	Options client.Options
	// External is true for a cluster that is run outside of this process.
	External bool

	profile envconfig.ClientConfigProfile // for values that client.Options hides; used by the web UI
}

// Bundled returns the frontend at address, host:port, started by engine.StartTemporal.
func Bundled(address string) Connection {
	profile := envconfig.ClientConfigProfile{Address: address, Namespace: Namespace}
	return Connection{Options: client.Options{HostPort: address, Namespace: Namespace}, profile: profile}
}

// External returns the frontend that the environment names by TEMPORAL_ADDRESS, with namespace, TLS and API key
// from the other variables of Temporal's own tools, and from the file TEMPORAL_CONFIG_FILE if that is set. It
// returns false when the environment names none.
func External(env envconfig.EnvLookup) (Connection, bool, error) {
	if address, _ := env.LookupEnv("TEMPORAL_ADDRESS"); address == "" {
		return Connection{}, false, nil
	}
	file, _ := env.LookupEnv("TEMPORAL_CONFIG_FILE")
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		EnvLookup:   env,
		DisableFile: file == "", // the file in a user's home is for that user's tools
	})
	if err != nil {
		return Connection{}, false, fmt.Errorf("read Temporal client settings: %w", err)
	}
	if profile.Namespace == "" {
		profile.Namespace = Namespace
	}
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return Connection{}, false, fmt.Errorf("read Temporal client settings: %w", err)
	}
	return Connection{Options: options, External: true, profile: profile}, true, nil
}
