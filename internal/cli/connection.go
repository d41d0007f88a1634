package cli

import (
	"slipway/internal/client"
	"slipway/internal/model"
)

// Service holds the flags for the address and the credentials of a service.
type Service struct {
	URL   string       `default:"http://127.0.0.1:8090" env:"SLIPWAY_URL" help:"Address of the service." placeholder:"URL"`
	Token model.Secret `env:"SLIPWAY_TOKEN" help:"Token for the service; better in the environment."`
}

// Connection holds the flags of every command that calls a service and prints its replies.
type Connection struct {
	Service
	Output string `short:"o" default:"table" enum:"table,json" help:"Output format: table or json."`
}

// Client makes the client of the service.
func (c *Service) Client() *client.Client {
	return client.New(client.Options{BaseURL: c.URL, UserToken: c.Token, UserAgent: "slipway-cli"})
}

func (c *Connection) json() bool { return c.Output == "json" }
