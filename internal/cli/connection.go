package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"slipway/internal/client"
	"slipway/internal/client/contexts"
	"slipway/internal/model"
)

// defaultURL is the address of a service that was given none.
const defaultURL = "https://127.0.0.1:8090"

// Service holds the flags for the address and the credentials of a service. What is not given comes from the file of contexts, or
// from the file that the service of this machine keeps for its administrator.
type Service struct {
	URL       string       `env:"SLIPWAY_URL" help:"Address of the service; by default the address in the context, or of the service of this machine." placeholder:"URL"`
	Token     model.Secret `env:"SLIPWAY_TOKEN" help:"Token for the service; better in the environment."`
	Authority string       `name:"ca-file" env:"SLIPWAY_CA_FILE" type:"path" help:"Certificates, PEM, that the certificate of the service is signed with, beside the system's certificates." placeholder:"FILE"`
	Context   string       `env:"SLIPWAY_CONTEXT" help:"Name of the context to use: slipway login makes them." placeholder:"NAME"`
	Config    string       `name:"config" env:"SLIPWAY_CONFIG" type:"path" help:"File with the contexts; by default slipway/config in the folder for configuration." placeholder:"FILE"`
	DataDir   string       `hidden:"" default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path"`

	authority []byte
	http      *http.Client
}

// Connection holds the flags of every command that calls a service and prints its replies.
type Connection struct {
	Service
	Output string `short:"o" default:"table" enum:"table,json" help:"Output format: table or json."`
}

// AfterApply completes the flags; kong calls it when they are read.
func (c *Service) AfterApply() error {
	found, err := c.context()
	if err != nil {
		return err
	}
	if c.URL == "" {
		c.URL = found.Server
	}
	if c.URL == "" {
		c.URL = defaultURL
	}
	c.URL = strings.TrimRight(c.URL, "/")
	if c.Token == "" {
		c.Token = found.Secret()
	}
	c.authority = found.Authority
	if c.Authority != "" {
		if c.authority, err = os.ReadFile(c.Authority); err != nil {
			return fmt.Errorf("read --ca-file: %w", err)
		}
	}
	c.http, err = client.TransportPEM(c.authority, false)
	return err
}

// context returns what the files know: the context asked for, the context of the address asked for, or the current one.
func (c *Service) context() (contexts.Context, error) {
	path := c.Config
	if path == "" {
		var err error
		if path, err = contexts.UserFile(os.LookupEnv); err != nil && c.Context != "" {
			return contexts.Context{}, err
		}
	}
	user, err := contexts.Read(path)
	if err != nil {
		return contexts.Context{}, err
	}
	if c.Context != "" {
		found, known := user.ByName(c.Context)
		if !known {
			return found, fmt.Errorf("require a context of %s, found %q: slipway context list shows them", path, c.Context)
		}
		return found, nil
	}
	if found, known := c.of(&user); known {
		return found, nil
	}
	// The administrator of this machine needs no login; others cannot read the file.
	local, err := contexts.Read(filepath.Join(c.DataDir, contexts.AdminFile))
	if os.IsPermission(err) || err != nil && c.URL != "" {
		return contexts.Context{}, nil
	}
	found, _ := c.of(&local)
	return found, err
}

func (c *Service) of(f *contexts.File) (contexts.Context, bool) {
	if c.URL != "" {
		return f.ByServer(c.URL)
	}
	return f.ByName("")
}

// Client makes the client of the service.
func (c *Service) Client() *client.Client {
	return client.New(client.Options{BaseURL: c.URL, UserToken: c.Token, UserAgent: "slipway-cli", HTTPClient: c.http})
}

func (c *Connection) json() bool { return c.Output == "json" }
