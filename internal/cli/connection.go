package cli

import (
	"slipway/internal/client"
	"slipway/internal/model"
)

// Service are the flags that say where a service is and who asks.
type Service struct {
	URL   string       `default:"http://127.0.0.1:8090" env:"SLIPWAY_URL" help:"Address of the service." placeholder:"URL"`
	Token model.Secret `env:"SLIPWAY_TOKEN" help:"What you prove yourself with to the service; better in the environment."`
}

// Connection are the flags of every command that speaks to a service and prints its answers.
type Connection struct {
	Service
	Output string `short:"o" default:"table" enum:"table,json" help:"How to print: table or json."`
}

// Client makes the client of the service.
func (c *Service) Client() *client.Client {
	return client.New(client.Options{BaseURL: c.URL, UserToken: c.Token, UserAgent: "slipway-cli"})
}

func (c *Connection) json() bool { return c.Output == "json" }
