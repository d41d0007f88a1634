package app

import (
	"context"
	"fmt"

	"slipway/internal/app/doctor"
	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
	"slipway/internal/platform/engine"
)

// Exit codes of slipway doctor, beside 0.
const (
	exitProblem = 1
	exitWarning = 10
)

// doctorCommand takes the flags of slipway up, and changes nothing.
type doctorCommand struct {
	settings.Up
	Ready  bool   `help:"Ask the running service alone whether it is ready, as health checks of containers do."`
	Output string `short:"o" default:"text" enum:"text,json" help:"Output format: text or json."`
}

// Help names the exit codes.
func (*doctorCommand) Help() string {
	return `Run it as root or as the user of the service, with the settings of the service: its file is read, its flags have to be repeated.
Exit codes: 0, all is in order; 10, there are warnings; 1, there is a problem.`
}

// Run prints findings.
func (c *doctorCommand) Run(ctx context.Context, p *process.Process) error {
	examine := doctor.Examine
	if c.Ready {
		examine = doctor.Ready
	}
	found := examine(ctx, doctor.Patient{
		Settings: c.Up, Reader: service.New(p, c.Service), Ports: engine.CheckPorts, Machine: doctor.ThisMachine(), Process: p,
	})
	write := doctor.Print
	if c.Output == "json" {
		write = doctor.PrintJSON
	}
	if err := write(p.Stdout, found); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	switch doctor.Worst(found) {
	case doctor.Problem:
		return &usercli.Failure{Err: fmt.Errorf("doctor: %s", doctor.Count(found)), Code: exitProblem}
	case doctor.Warning:
		return &usercli.Failure{Err: fmt.Errorf("doctor: %s", doctor.Count(found)), Code: exitWarning}
	case doctor.OK:
	}
	return nil
}
