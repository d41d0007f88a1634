// Package frontend connects to a Temporal frontend: the bundled server's or another one that
// the environment names. It prepares the namespace there, and serves Temporal's web UI as an
// HTTP handler. It does not import the Temporal server.
package frontend

import (
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/model"
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

// Certificates are files with which a frontend and its callers identify each other; the zero value means none.
type Certificates struct{ Authority, Certificate, Key string }

// CertificatesIn returns the files that engine.StartTemporal puts into a folder.
func CertificatesIn(dir string) Certificates {
	return Certificates{
		Authority:   filepath.Join(dir, "ca.pem"),
		Certificate: filepath.Join(dir, "client.pem"),
		Key:         filepath.Join(dir, "client.key"),
	}
}

// Bundled returns the frontend at address, host:port, started by engine.StartTemporal.
func Bundled(address string, files Certificates) (Connection, error) {
	profile := envconfig.ClientConfigProfile{Address: address, Namespace: Namespace}
	if files != (Certificates{}) {
		profile.TLS = &envconfig.ClientConfigTLS{
			ServerCACertPath: files.Authority, ClientCertPath: files.Certificate, ClientKeyPath: files.Key,
		}
	}
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return Connection{}, fmt.Errorf("read certificates of the bundled Temporal: %w", err)
	}
	return Connection{Options: options, profile: profile}, nil
}

// WriteConfig writes a file with which Temporal's own tools reach the frontend: address, namespace, certificates,
// and the codec that opens payloads for them, with a token for it. They read the file that TEMPORAL_CONFIG_FILE names.
func (c Connection) WriteConfig(file, codec string, token model.Secret) error {
	profile := c.profile
	profile.Codec = &envconfig.ClientConfigCodec{Endpoint: codec}
	if token != "" {
		profile.Codec.Auth = "Bearer " + token.Reveal()
	}
	config := envconfig.ClientConfig{Profiles: map[string]*envconfig.ClientConfigProfile{envconfig.DefaultConfigFileProfile: &profile}}
	text, err := config.ToTOML(envconfig.ClientConfigToTOMLOptions{})
	if err != nil {
		return fmt.Errorf("write settings for Temporal's tools: %w", err)
	}
	if err := renameio.WriteFile(file, text, 0o600, renameio.IgnoreUmask()); err != nil {
		return fmt.Errorf("write settings for Temporal's tools: %w", err)
	}
	return nil
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
