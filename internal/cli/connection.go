package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	Authority string       `name:"ca-file" env:"SLIPWAY_CA_FILE" type:"path" help:"Certificates, PEM, that the certificate of the service is signed with, alone; by default the system's certificates." placeholder:"FILE"`
	Context   string       `env:"SLIPWAY_CONTEXT" predictor:"context" help:"Name of the context to use: slipway login makes them." placeholder:"NAME"`
	Config    string       `name:"config" env:"SLIPWAY_CONFIG" type:"path" help:"File with the contexts; by default slipway/config in the folder for configuration." placeholder:"FILE"`
	DataDir   string       `name:"data-dir" env:"SLIPWAY_DATA_DIR" help:"Data folder of the service of this machine, whose administrator needs no context." placeholder:"FOLDER"`

	authority []byte
	http      *http.Client
	// kept is the file that the service keeps for its administrator, where the token is from it.
	kept string
}

// Connection holds the flags of every command that calls a service and prints its replies.
type Connection struct {
	Service
	Output    outputFormat `short:"o" default:"table" help:"Output format: table, json, yaml, name or jsonpath=EXPRESSION." placeholder:"FORMAT"`
	NoHeaders bool         `name:"no-headers" help:"Print tables without their header."`
}

// AfterApply completes the flags; kong calls it when they are read.
func (c *Service) AfterApply() error {
	var err error
	if c.URL != "" {
		if c.URL, err = address(c.URL); err != nil {
			return err
		}
	}
	found, err := c.context()
	if err != nil {
		return err
	}
	c.URL = cmp.Or(c.URL, found.Server, defaultURL)
	if c.Token == "" {
		c.Token = found.Secret()
	} else {
		c.kept = ""
	}
	c.authority = found.Authority
	if c.Authority != "" {
		if c.authority, err = os.ReadFile(c.Authority); err != nil {
			return fmt.Errorf("read --ca-file: %w", err)
		}
	}
	c.http, err = client.Pinned(c.authority)
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
		if c.DataDir != "" {
			return contexts.Context{}, usagef("--context and --data-dir (SLIPWAY_CONTEXT, SLIPWAY_DATA_DIR) name two services: require one of them")
		}
		found, known := user.ByName(c.Context)
		if !known {
			return found, fmt.Errorf("require a context of %s, found %q: slipway context list shows them", path, c.Context)
		}
		return found, nil
	}
	kept, known := c.of(&user)
	if c.DataDir != "" { // given by hand, it wins over the current context
		found, err := c.administrator(c.DataDir)
		switch {
		case err != nil || found.Server != "":
			return found, err
		case c.URL == "" && known:
			return found, usagef("--data-dir (SLIPWAY_DATA_DIR): require a folder with %s, found none that can be read in %s; without it "+
				"context %s is used", contexts.AdminFile, c.DataDir, kept.Name)
		}
	}
	if known {
		return kept, nil
	}
	return c.administrator(defaultDataDir)
}

// defaultDataDir is the data folder of a service that was given none.
const defaultDataDir = "/var/lib/slipway"

// administrator returns the context of the administrator of this machine, who needs no login; others cannot read the file.
func (c *Service) administrator(folder string) (contexts.Context, error) {
	local, err := contexts.Read(filepath.Join(folder, contexts.AdminFile))
	if os.IsPermission(err) || err != nil && c.URL != "" {
		return contexts.Context{}, nil
	}
	found, known := c.of(&local)
	if known {
		c.kept = filepath.Join(folder, contexts.AdminFile)
	}
	return found, err
}

// address completes the address of a service: HTTPS where it has no scheme.
func address(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", usagef("require the address of a service, such as https://slipway.example.com:8090, found %q", text)
	}
	return u.String(), nil
}

func (c *Service) of(f *contexts.File) (contexts.Context, bool) {
	if c.URL != "" {
		return f.ByServer(c.URL)
	}
	return f.ByName("")
}

// Client makes the client of the service.
func (c *Service) Client() *client.Client {
	options := client.Options{BaseURL: c.URL, UserToken: c.Token, UserAgent: "slipway-cli", HTTPClient: c.http}
	if c.kept != "" {
		options.RenewedToken = (&keptToken{path: c.kept, url: c.URL, token: c.Token}).read
	}
	return client.New(options)
}

// keptToken is the token in the file of the administrator. The service replaces it each day: a command that runs for weeks follows.
type keptToken struct {
	path, url string

	mu      sync.Mutex
	written time.Time
	token   model.Secret
}

// read returns the token, by the file when that has changed.
func (k *keptToken) read() model.Secret {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.path)
	if err != nil || info.ModTime().Equal(k.written) {
		return k.token
	}
	if file, err := contexts.Read(k.path); err == nil {
		if found, known := file.ByServer(k.url); known {
			k.written, k.token = info.ModTime(), found.Secret()
		}
	}
	return k.token
}
