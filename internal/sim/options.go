package sim

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/hardware"
	"slipway/internal/sim/site"
)

// MachineOptions say what a machine is and where it stands.
type MachineOptions struct {
	Spec hardware.Spec
	// Root is the folder of the machine, a folder of its own.
	Root string
	// Site is the place it stands in.
	Site *site.Site

	// ServiceURL, InfraEnvID and Token are in the live image.
	ServiceURL string
	InfraEnvID uuid.UUID
	Token      model.Secret
	// Authority signed the certificate of the service, PEM; AuthorityPath is its file on the host. Empty: the system trusts it.
	Authority     []byte
	AuthorityPath string
	// AgentVersion is the version that the agent registers with.
	AgentVersion string
	// AgentSteps is how the agent behaves: model.FineSteps when empty.
	AgentSteps model.AgentSteps
	// OthersApprove lets the certificate requests of a machine that joins an existing cluster wait for whoever approves them. By default
	// the machine plays the administrator who does.
	OthersApprove bool

	// Speed of the Clock: 60 makes a minute a second, zero lets nothing take time.
	Speed float64
	// Times are RealTimes when zero.
	Times  Times
	Faults Faults

	Transport http.RoundTripper // one that trusts Authority when nil
	Log       *slog.Logger      // slog.Default() when nil
	Now       func() time.Time  // time.Now when nil
}

func (o MachineOptions) withDefaults() (MachineOptions, error) {
	if o.Root == "" || o.Site == nil || o.ServiceURL == "" || o.InfraEnvID == uuid.Nil {
		return o, errors.New("require a folder, a site, the address of the service and an InfraEnv")
	}
	if err := o.Spec.Check(); err != nil {
		return o, err
	}
	if o.Times == (Times{}) {
		o.Times = RealTimes
	}
	if o.AgentSteps == "" {
		o.AgentSteps = model.FineSteps
	}
	if o.Transport == nil {
		service, err := client.TransportPEM(o.Authority, false)
		if err != nil {
			return o, fmt.Errorf("trust the service: %w", err)
		}
		o.Transport = service.Transport
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = o.Log.With("machine", o.Spec.Hostname)
	return o, nil
}

// root returns the file system of the running system.
func (o MachineOptions) root() hostexec.Root { return hostexec.Root(filepath.Join(o.Root, "root")) }
