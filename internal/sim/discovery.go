package sim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// Discovery holds the settings that a discovery Ignition gives the live image for its agent.
type Discovery struct {
	ServiceURL   string
	InfraEnvID   uuid.UUID
	AgentVersion string
	Token        model.Secret
	// Authority is the file that the agent trusts for the service, AuthorityPath its place on the host; empty without.
	Authority     []byte
	AuthorityPath string
}

const (
	agentUnit        = "agent.service"
	agentEnvironment = "/etc/slipway/agent.env"
)

// ReadDiscovery reads a discovery Ignition as the live image does: the arguments of the
// agent from its unit, its token from its environment file.
func ReadDiscovery(config []byte) (Discovery, error) {
	var d Discovery
	parsed, err := document.Parse(config)
	if err != nil {
		return d, fmt.Errorf("read the discovery Ignition: %w", err)
	}
	if file, err := parsed.File(agentEnvironment); err == nil {
		content, err := file.Content()
		if err != nil {
			return d, fmt.Errorf("read %s of the discovery Ignition: %w", agentEnvironment, err)
		}
		d.Token = model.Secret(variable(string(content), "PULL_SECRET_TOKEN"))
	}
	arguments, err := agentArguments(config)
	if err != nil {
		return d, fmt.Errorf("read the discovery Ignition: %w", err)
	}
	d.ServiceURL, d.AgentVersion = option(arguments, "--url"), option(arguments, "--agent-version")
	if d.InfraEnvID, err = uuid.Parse(option(arguments, "--infra-env-id")); err != nil {
		return d, fmt.Errorf("read the discovery Ignition: infra-env id of the agent: %w", err)
	}
	if d.ServiceURL == "" {
		return d, errors.New("read the discovery Ignition: the agent has no address of the service")
	}
	if d.AuthorityPath = option(arguments, "--cacert"); d.AuthorityPath != "" {
		file, err := parsed.File(d.AuthorityPath)
		if err != nil {
			return d, fmt.Errorf("read the discovery Ignition: certificates of the agent: %w", err)
		}
		if d.Authority, err = file.Content(); err != nil {
			return d, fmt.Errorf("read the discovery Ignition: certificates of the agent: %w", err)
		}
	}
	return d, nil
}

// agentArguments lists the words of the agent's command line.
func agentArguments(config []byte) ([]string, error) {
	var units struct {
		Systemd struct {
			Units []struct{ Name, Contents string }
		}
	}
	if err := json.Unmarshal(config, &units); err != nil {
		return nil, err
	}
	for _, unit := range units.Systemd.Units {
		lines := bufio.NewScanner(strings.NewReader(unit.Contents))
		for unit.Name == agentUnit && lines.Scan() {
			if command, found := strings.CutPrefix(lines.Text(), "ExecStart="); found {
				return words(command), nil
			}
		}
	}
	return nil, fmt.Errorf("no %s with a command in it", agentUnit)
}

// words splits a command line as systemd does (systemd.service(5), "Command lines"):
// quotes keep spaces, a backslash keeps the character after it.
func words(command string) []string {
	var all []string
	var word strings.Builder
	quote, begun := rune(0), false
	escaped := false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				all = append(all, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// variable returns a value of an environment file as systemd reads it.
func variable(content, name string) string {
	for line := range strings.Lines(content) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+"="); found {
			return strings.Join(words(value), " ")
		}
	}
	return ""
}
