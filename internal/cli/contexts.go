package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"slipway/internal/cli/view"
	"slipway/internal/client/contexts"
)

// ContextCommands are about the services that the user has logged in to.
type ContextCommands struct {
	List   listContexts  `cmd:"" help:"List the contexts."`
	Use    useContext    `cmd:"" help:"Make a context the current one."`
	Delete deleteContext `cmd:"" help:"Delete a context: its token is forgotten, and stays valid."`
	Token  tokenContext  `cmd:"" help:"Print the token that commands send."`
	Curl   curlContext   `cmd:"" help:"Print settings for curl --config: authority and token of the service."`
}

type configFlag struct {
	Config string `env:"SLIPWAY_CONFIG" type:"path" help:"File with the contexts." placeholder:"FILE"`
}

// readContexts reads the file of the user, or another.
func readContexts(path string) (string, contexts.File, error) {
	if path == "" {
		var err error
		if path, err = contexts.UserFile(os.LookupEnv); err != nil {
			return "", contexts.File{}, err
		}
	}
	file, err := contexts.Read(path)
	return path, file, err
}

type listContexts struct{ configFlag }

// Run prints the contexts.
func (k *listContexts) Run(t *Terminal) error {
	_, file, err := readContexts(k.Config)
	if err != nil {
		return err
	}
	table := view.Table{Header: []string{"NAME", "SERVER", ""}}
	for _, c := range file.Contexts {
		current := ""
		if c.Name == file.Current {
			current = "current"
		}
		table.Add(c.Name, c.Server, current)
	}
	for _, line := range table.Lines() {
		t.printf("%s\n", line)
	}
	return nil
}

type useContext struct {
	configFlag
	Name string `arg:"" predictor:"context" help:"Name of a context."`
}

// Run changes the current context.
func (k *useContext) Run(t *Terminal) error {
	path, file, err := readContexts(k.Config)
	if err != nil {
		return err
	}
	found, known := file.ByName(k.Name)
	if !known {
		return &Failure{fmt.Errorf("there is no context %s in %s", k.Name, path), exitNotFound}
	}
	file.Current = k.Name
	if err := file.Write(path); err != nil {
		return err
	}
	t.printf("context %s is the current one: %s\n", k.Name, found.Server)
	return nil
}

type deleteContext struct {
	configFlag
	Name string `arg:"" predictor:"context" help:"Name of a context."`
}

// Run removes a context.
func (k *deleteContext) Run() error {
	path, file, err := readContexts(k.Config)
	if err != nil {
		return err
	}
	if !file.Remove(k.Name) {
		return &Failure{fmt.Errorf("there is no context %s in %s", k.Name, path), exitNotFound}
	}
	return file.Write(path)
}

type tokenContext struct{ Service }

// Run prints the token for programs that ask for one.
func (k *tokenContext) Run(t *Terminal) error {
	if k.Token == "" {
		return &Failure{fmt.Errorf("there is no token for %s", k.URL), exitNotFound}
	}
	t.printf("%s\n", k.Token.Reveal())
	return nil
}

type curlContext struct {
	Service
	Folder string `type:"path" default:"." help:"Folder for the file with the authority." placeholder:"FOLDER"`
}

// Run writes the authority to a file, and prints what curl reads with --config or in .curlrc.
func (k *curlContext) Run(t *Terminal) error {
	if len(k.authority) > 0 {
		path := filepath.Join(k.Folder, "slipway-ca.pem")
		if err := os.WriteFile(path, k.authority, 0o600); err != nil {
			return fmt.Errorf("write the authority: %w", err)
		}
		t.printf("cacert = %q\n", path)
	}
	if k.Token != "" {
		t.printf("header = \"Authorization: Bearer %s\"\n", k.Token.Reveal())
	}
	return nil
}
