package engine

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Namespace is the Temporal namespace everything of Slipway lives in.
const Namespace = "slipway"

// Frontend says how to reach a Temporal frontend, ours or another.
type Frontend struct {
	// Options dial it. The caller may add a data converter, a logger and the like.
	Options client.Options
	// External is true for a cluster that somebody else runs.
	External bool

	profile envconfig.ClientConfigProfile // for what client.Options hides: the web UI's way in
}

// Bundled is the way to the server at address, host:port, started by StartTemporal.
func Bundled(address string) Frontend {
	profile := envconfig.ClientConfigProfile{Address: address, Namespace: Namespace}
	return Frontend{Options: client.Options{HostPort: address, Namespace: Namespace}, profile: profile}
}

// External is the way to the cluster that the environment names by TEMPORAL_ADDRESS, with
// namespace, TLS and API key from the other variables of Temporal's own tools, and from
// the file TEMPORAL_CONFIG_FILE where that is set. It returns false when the environment
// names none.
func External(env envconfig.EnvLookup) (Frontend, bool, error) {
	if address, _ := env.LookupEnv("TEMPORAL_ADDRESS"); address == "" {
		return Frontend{}, false, nil
	}
	file, _ := env.LookupEnv("TEMPORAL_CONFIG_FILE")
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		EnvLookup:   env,
		DisableFile: file == "", // the file in a user's home is for that user's tools
	})
	if err != nil {
		return Frontend{}, false, fmt.Errorf("read Temporal client settings: %w", err)
	}
	if profile.Namespace == "" {
		profile.Namespace = Namespace
	}
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return Frontend{}, false, fmt.Errorf("read Temporal client settings: %w", err)
	}
	return Frontend{Options: options, External: true, profile: profile}, true, nil
}
