package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
)

// AgentTokens is the kind of tokens that agents prove themselves with in mode local, the value of AGENT_TOKENS.
type AgentTokens string

const (
	// PerHost: the token of a discovery image registers hosts, and nothing else. Registration gives a host a token of its own, and
	// the controller of a new cluster gets one of its installation.
	PerHost AgentTokens = "host"
	// PerInfraEnv is the contract of the v2 API, for agents of other implementations: one token for all hosts of an InfraEnv, and
	// for the clusters that they belong to.
	PerInfraEnv AgentTokens = "infra-env"
)

const (
	// hostTokenLife is how long an agent may be without a poll that is answered.
	hostTokenLife = 24 * time.Hour
	// hostTokenRenewal is the age at which a poll brings another token.
	hostTokenRenewal = time.Hour
)

// HostFacts holds the facts that the token of a host depends on.
type HostFacts struct {
	Generation int       // of its tokens: another registration ends those before
	ClusterID  uuid.UUID // that it belongs to now; zero: none
	Bootstrap  bool      // it bootstraps the cluster, and has not left the discovery image
	KeyName    string    // of the key that signs for its InfraEnv: model.KeyName
	// Held says that the host is being installed: its token outlives a rotation of the key.
	Held bool
}

// ClusterFacts holds the facts that the token of a controller depends on.
type ClusterFacts struct {
	Attempt int // of its installation
	Open    bool
}

// HostToken signs a token of one host. It is empty where another service signs. Agents of other implementations know nothing of it, and
// continue with their image's.
func (l *Local) HostToken(h *model.Host, key model.Secret) (model.Secret, error) {
	if l.Mode != ModeLocal {
		return "", nil
	}
	now := l.Now()
	return l.sign(claims{
		Role: RoleAgent, InfraEnvID: h.InfraEnvID.String(), HostID: h.ID.String(), Generation: h.TokenGeneration, Key: model.KeyName(key),
		RegisteredClaims: jwt.RegisteredClaims{IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(hostTokenLife))},
	})
}

// Renew returns another token for an agent whose own is old; an empty one when it is not.
func (l *Local) Renew(credential string) (model.Secret, error) {
	var c claims
	own := l.Mode == ModeLocal && l.parse(credential, &c) == nil && c.Role == RoleAgent && c.IssuedAt != nil
	if !own || l.Now().Sub(c.IssuedAt.Time) < hostTokenRenewal {
		return "", nil
	}
	c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(l.Now()), jwt.NewNumericDate(l.Now().Add(hostTokenLife))
	return l.sign(c)
}

// ControllerToken signs a token of the controller of one installation. It is empty where another service signs.
func (l *Local) ControllerToken(clusterID uuid.UUID, attempt int) (model.Secret, error) {
	if l.Mode != ModeLocal {
		return "", nil
	}
	return l.sign(claims{Role: RoleController, ClusterID: clusterID.String(), Attempt: attempt})
}

// hostCaller returns the agent of a host, as the host is now.
func (l *Local) hostCaller(ctx context.Context, caller Caller, c claims) (Caller, error) {
	id, err := uuid.Parse(c.HostID)
	if err != nil || id == uuid.Nil || caller.InfraEnvID == uuid.Nil {
		return Caller{}, Refusedf("require the token of a host with its id and the id of its infra-env")
	}
	host, err := l.Host(ctx, caller.InfraEnvID, id)
	if errors.Is(err, model.ErrNotFound) {
		return Caller{}, Refusedf("there is no host %s", id)
	}
	if err != nil {
		return Caller{}, fmt.Errorf("read host %s: %w", id, err)
	}
	if c.Generation < host.Generation { // a database that was restored from a backup may be behind
		return Caller{}, Refusedf("host %s has registered again", id)
	}
	if !host.Held && !sameKey(c.Key, host.KeyName) {
		return Caller{}, Refusedf("the signing key of infra-env %s was replaced", caller.InfraEnvID)
	}
	caller.Name, caller.Role, caller.HostID, caller.ClusterID, caller.Bootstrap = "agent", RoleAgent, id, host.ClusterID, host.Bootstrap
	return caller, nil
}

// controllerCaller returns the controller of a cluster, while its installation is the present one.
func (l *Local) controllerCaller(ctx context.Context, caller Caller, c claims) (Caller, error) {
	cluster, err := l.Cluster(ctx, caller.ClusterID)
	if errors.Is(err, model.ErrNotFound) {
		return Caller{}, Refusedf("there is no cluster %s", caller.ClusterID)
	}
	if err != nil {
		return Caller{}, fmt.Errorf("read cluster %s: %w", caller.ClusterID, err)
	}
	if !cluster.Open || cluster.Attempt != c.Attempt {
		return Caller{}, Refusedf("the installation of cluster %s that the token is of is over", caller.ClusterID)
	}
	caller.Name, caller.Role = "controller", RoleController
	return caller, nil
}

// sameKey reports whether the name in a token is the name of this signing key.
func sameKey(name, key string) bool {
	return subtle.ConstantTimeCompare([]byte(name), []byte(key)) == 1
}
