package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// target holds the ids in the address of a request.
type target struct{ infraEnvID, clusterID uuid.UUID }

type targetKey struct{}

// WithTarget notes which objects a request is about; zero ids: none. The token of a pull secret names no object itself.
func WithTarget(ctx context.Context, infraEnvID, clusterID uuid.UUID) context.Context {
	return context.WithValue(ctx, targetKey{}, target{infraEnvID, clusterID})
}

// pullSecrets reports whether agents prove themselves with pull secrets.
func (l *Local) pullSecrets() bool {
	return l.Mode == ModeLocal && l.PullSecret != nil && l.AgentTokens == PerInfraEnv
}

// pullSecretCaller returns an agent of another implementation with the token for cloud.openshift.com in the pull secret of the very
// InfraEnv, or cluster, that the request is about. Red Hat's services are not asked.
func (l *Local) pullSecretCaller(ctx context.Context, credential string) (Caller, error) {
	about, _ := ctx.Value(targetKey{}).(target)
	caller := Caller{Name: "agent", Role: RoleForeign, Scheme: SchemeAgent, Admin: true}
	switch {
	case about.infraEnvID != uuid.Nil:
		caller.InfraEnvID = about.infraEnvID
	case about.clusterID != uuid.Nil:
		caller.ClusterID = about.clusterID
	default:
		return Caller{}, Refusedf("the token of a pull secret is for requests about an infra-env or a cluster")
	}
	secret, err := l.PullSecret(ctx, caller.InfraEnvID, caller.ClusterID)
	own := cloudToken(secret)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return Caller{}, fmt.Errorf("read the pull secret: %w", err)
	}
	if err != nil || own == "" || !sameSecret(own.Reveal(), credential) {
		return Caller{}, Refusedf("require the token for cloud.openshift.com in the pull secret of the infra-env or cluster")
	}
	return caller, nil
}

// cloudToken returns the auth of cloud.openshift.com in a pull secret, as it is written there; empty without one.
func cloudToken(pullSecret model.Secret) model.Secret {
	var all struct {
		Auths map[string]struct {
			Auth model.Secret `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(pullSecret.Reveal()), &all) != nil {
		return ""
	}
	return all.Auths["cloud.openshift.com"].Auth
}

// sameSecret compares two secrets by digests with a key of their own: how long it takes depends on neither of them.
func sameSecret(own, sent string) bool {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails: the runtime aborts without randomness
	digest := func(text string) []byte {
		sum := hmac.New(sha256.New, key)
		_, _ = sum.Write([]byte(text))
		return sum.Sum(nil)
	}
	return hmac.Equal(digest(own), digest(sent))
}
