// Package auth identifies the caller of a request: the modes, credentials and claims of docs/reference/auth.md.
// The API's authorization check decides what a caller may do.
package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Mode is how callers prove who they are, the value of AUTH_TYPE.
type Mode string

// The modes.
const (
	// ModeNone treats every caller as the administrator.
	ModeNone Mode = "none"
	// ModeLocal signs the tokens of agents with a key pair of the service.
	ModeLocal Mode = "local"
	// ModeOIDC is local for machines; users come from an issuer of OpenID Connect, or have tokens as in local.
	ModeOIDC Mode = "oidc"
	// ModeRHSSO is local for machines; users have tokens of Red Hat's single sign-on, and agents of other implementations may have the
	// token of the InfraEnv's pull secret.
	ModeRHSSO Mode = "rhsso"
	// ModeAgentInstaller accepts tokens that the agent-based installer signed; the service has the public key
	// only.
	ModeAgentInstaller Mode = "agent-installer-local"
)

// Modes lists the modes.
var Modes = []Mode{ModeNone, ModeLocal, ModeOIDC, ModeRHSSO, ModeAgentInstaller}

// ParseMode reads the value of AUTH_TYPE; the error for an unknown value lists the valid ones.
func ParseMode(text string) (Mode, error) {
	if slices.Contains(Modes, Mode(text)) {
		return Mode(text), nil
	}
	names := make([]string, len(Modes))
	for i, m := range Modes {
		names[i] = string(m)
	}
	return "", fmt.Errorf("AUTH_TYPE: require one of %s, found %q", strings.Join(names, ", "), text)
}

// Scheme is a place in a request that can carry a credential, by its name in the API document.
type Scheme string

// The schemes of the contract.
const (
	SchemeUser     Scheme = "userAuth"     // header Authorization
	SchemeAgent    Scheme = "agentAuth"    // header X-Secret-Key
	SchemeURL      Scheme = "urlAuth"      // query api_key
	SchemeImage    Scheme = "imageAuth"    // header Image-Token
	SchemeImageURL Scheme = "imageURLAuth" // query image_token
	SchemeWatcher  Scheme = "watcherAuth"  // header Watcher-Authorization
)

// ErrRefused marks an invalid credential; the text says why it is invalid.
var ErrRefused = errors.New("credential refused")

// Refusedf makes an ErrRefused.
func Refusedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Role names the permissions of a caller; package api has the table of operations.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"  // a user who may do everything
	RoleUser   Role = "user"   // a user who may do everything with the objects of its organization, or its own without one
	RoleViewer Role = "viewer" // a user who changes nothing, and reads nothing that opens clusters or hosts
	// RoleKube is slipway kube, with the objects of its organization: what resources of Kubernetes define, and no more.
	RoleKube Role = "kube"
	// RoleAgent is the agent of one host, with a token that its registration gave it.
	RoleAgent Role = "agent"
	// RoleRegistrar is an agent with the token of its discovery image: it may register.
	RoleRegistrar Role = "registrar"
	// RoleController is the controller in a new cluster, with a token of one installation.
	RoleController Role = "controller"
	// RoleForeign is agent, installer or controller of other implementations, with the token of the v2 API.
	RoleForeign Role = "foreign"
	RoleAddress Role = "address" // whoever has the address of an image, or of files of one object
	RoleWatcher Role = "watcher" // follows an installation
)

// Roles lists them.
var Roles = []Role{
	RoleAdmin, RoleUser, RoleViewer, RoleKube, RoleAgent, RoleRegistrar, RoleController, RoleForeign, RoleAddress, RoleWatcher,
}

// Caller is the identity that a credential proves.
type Caller struct {
	Name  string
	Role  Role
	OrgID string
	// Admin may read objects of every owner.
	Admin bool
	// TokenID identifies the token of a user; zero: of machines, and where another service signs.
	TokenID uuid.UUID
	// Issuer is who signed the credential; empty: this service.
	Issuer string
	// Scheme is the place the credential was found in.
	Scheme Scheme
	// InfraEnvID or ClusterID is the only object a bound caller may access; zero: any. An agent has all three: its host, the
	// InfraEnv of it, and the cluster that it belongs to now.
	InfraEnvID, ClusterID, HostID uuid.UUID
	// ExpiresAt is when the address of an image or file ends, zero: never. What it gives ends with it.
	ExpiresAt time.Time
	// Image says that the credential is the address of an image.
	Image bool
	// Bootstrap says of an agent that its host bootstraps the cluster.
	Bootstrap bool
}

// Bound reports whether the caller is restricted to one object.
func (c Caller) Bound() bool { return c.InfraEnvID != uuid.Nil || c.ClusterID != uuid.Nil }

// Key identifies the credential of a caller: the same for each way to write it down, and for each renewal of a host's.
func (c Caller) Key() string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%t", c.Role, c.Issuer, c.Name, c.TokenID, c.InfraEnvID, c.hostCluster(), c.HostID, c.Image)
}

// hostCluster returns the cluster that a credential is bound to: a host's cluster changes, and its credential does not.
func (c Caller) hostCluster() uuid.UUID {
	if c.HostID != uuid.Nil {
		return uuid.Nil
	}
	return c.ClusterID
}

// ReadOnly callers change nothing.
func (c Caller) ReadOnly() bool { return c.Role == RoleViewer }

// User reports whether the caller is a person, or a program of one.
func (c Caller) User() bool { return slices.Contains(UserRoles, c.Role) }

// Admin returns the caller of mode none.
var Admin = Caller{Name: "admin", Role: RoleAdmin, Admin: true}
