package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
)

// DefaultImageExpiration is how long the address of an image is good
// (docs/reference/auth.md, "Image tokens").
const DefaultImageExpiration = 4 * time.Hour

// LocalOptions configure Local.
type LocalOptions struct {
	Mode Mode // ModeLocal or ModeAgentInstaller
	// PrivateKey and PublicKey are PEM, or base64 of PEM. Mode local needs both.
	PrivateKey model.Secret
	PublicKey  string
	// TokenKey returns the key that signs the image addresses of an InfraEnv; its errors of kind
	// model.ErrNotFound make the credential invalid.
	TokenKey func(ctx context.Context, infraEnvID uuid.UUID) (model.Secret, error)
	// KeyReplaced returns when that key was replaced last, zero for never: tokens that do not name a key end with it. nil: never.
	KeyReplaced func(ctx context.Context, infraEnvID uuid.UUID) (time.Time, error)
	// AgentTokens is the kind of tokens that agents prove themselves with in mode local; empty: PerHost.
	AgentTokens AgentTokens
	// Host returns what is known of a host, Cluster of a cluster; their errors of kind model.ErrNotFound make the credential
	// invalid.
	Host    func(ctx context.Context, infraEnvID, hostID uuid.UUID) (HostFacts, error)
	Cluster func(ctx context.Context, clusterID uuid.UUID) (ClusterFacts, error)
	// User returns what a token of a user may do; model.ErrNotFound for one that is not valid. Mode local asks it.
	User func(ctx context.Context, id uuid.UUID) (model.UserToken, error)
	// Issuer identifies users too, in mode local; nil: none does.
	Issuer Issuer
	// PullSecret returns the pull secret of an InfraEnv, or of a cluster, the other of which is zero; model.ErrNotFound: no such object.
	// With PerInfraEnv agents prove themselves with the token in it; nil: they do not.
	PullSecret func(ctx context.Context, infraEnvID, clusterID uuid.UUID) (model.Secret, error)
	// ImageExpiration is how long the address of an image is good; zero: DefaultImageExpiration.
	ImageExpiration time.Duration
	// ImageTokenLife is how long machines register with an image, see AgentToken; zero: until its key is replaced.
	ImageTokenLife time.Duration
	// Endless is called for each use of a token without an end that an administrator signed for one object, as Slipway did up to 0.2;
	// nil: nothing is.
	Endless func(Caller)
	Now     func() time.Time
}

// Local identifies callers by tokens of a key pair (ES256).
type Local struct {
	LocalOptions
	keys     keyPair
	verified verified
}

// NewLocal parses the keys; errors name the setting at fault.
func NewLocal(o LocalOptions) (*Local, error) {
	keys, err := readKeys(o.PrivateKey, o.PublicKey)
	if err != nil {
		return nil, err
	}
	if o.Mode == ModeLocal && keys.private == nil {
		return nil, errors.New("EC_PRIVATE_KEY_PEM, which signs tokens of agents, is required with AUTH_TYPE=local")
	}
	if o.AgentTokens == "" {
		o.AgentTokens = PerHost
	}
	if o.ImageExpiration <= 0 {
		o.ImageExpiration = DefaultImageExpiration
	}
	return &Local{o, keys, newVerified()}, nil
}

// Open reports that callers need a credential.
func (l *Local) Open() bool { return false }

// claims holds the claims of a token (docs/reference/auth.md, "Tokens").
type claims struct {
	jwt.RegisteredClaims
	InfraEnvID string `json:"infra_env_id,omitempty"`
	ClusterID  string `json:"cluster_id,omitempty"`
	AuthScheme Scheme `json:"auth_scheme,omitempty"`
	// ReadOnly restricts a user's token to reading, where another service signs it.
	ReadOnly bool `json:"read_only,omitempty"`
	// UserRole and OrgID of a user's token are signed, so that its row in the database cannot give more. Tokens of before have neither.
	UserRole Role   `json:"user_role,omitempty"`
	OrgID    string `json:"org_id,omitempty"`
	// Role, HostID, Generation, Attempt and Key are explained in host.go.
	Role       Role   `json:"role,omitempty"`
	HostID     string `json:"host_id,omitempty"`
	Generation int    `json:"generation,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	Key        string `json:"key,omitempty"`
	// ImageKey identifies the signing key of the InfraEnv at the time the token was issued: a token in the
	// address of an image expires with that key.
	ImageKey string `json:"image_key,omitempty"`
}

// endless reports whether an administrator signed the token without an end. Tokens that the service makes end with their keys and objects.
func (c claims) endless() bool {
	return c.ExpiresAt == nil && c.Role == "" && c.Key == "" && c.ImageKey == ""
}

// Caller returns the identity of a credential of a scheme, or an ErrRefused when it is not a valid token of the
// scheme.
func (l *Local) Caller(ctx context.Context, scheme Scheme, credential string) (Caller, error) {
	switch {
	case scheme == SchemeImage || scheme == SchemeImageURL:
		return l.imageCaller(ctx, scheme, credential)
	case l.Mode == ModeLocal && scheme == SchemeWatcher, l.Mode == ModeAgentInstaller && scheme == SchemeURL:
		return Caller{}, Refusedf("mode %s takes no %s", l.Mode, scheme)
	}
	if scheme == SchemeUser && l.Issuer != nil && ofIssuer(bare(credential)) {
		return l.Issuer.Caller(ctx, bare(credential))
	}
	if scheme == SchemeAgent && l.pullSecrets() && !strings.Contains(credential, ".") { // base64 has no dots, a JWT has two
		return l.pullSecretCaller(ctx, credential)
	}
	var c claims
	if err := l.parse(credential, &c); err != nil {
		return Caller{}, err
	}
	bound := scheme == SchemeURL || scheme == SchemeAgent && l.Mode == ModeLocal
	if bound {
		caller, err := l.boundCaller(ctx, scheme, c)
		if err == nil && l.Endless != nil && c.endless() {
			l.Endless(caller)
		}
		return caller, err
	}
	if c.AuthScheme != scheme {
		return Caller{}, Refusedf("require a token with auth_scheme %s, found %q", scheme, c.AuthScheme)
	}
	if scheme == SchemeUser && l.Mode == ModeLocal {
		return l.userCaller(ctx, c)
	}
	caller := Admin
	caller.Scheme = scheme
	switch {
	case scheme == SchemeWatcher:
		caller.Role = RoleWatcher
	case scheme == SchemeAgent:
		caller.Role = RoleForeign
	case c.ReadOnly:
		caller.Role = RoleViewer
	}
	if c.Subject != "" {
		caller.Name = c.Subject
	}
	return caller, nil
}

// bare returns a token without what stands before it in a header.
func bare(credential string) string {
	return strings.TrimSpace(strings.TrimPrefix(credential, "Bearer "))
}

func (l *Local) parse(credential string, into *claims) error {
	token := bare(credential)
	var known bool
	if *into, known = l.verified.claims(token, l.Now); known {
		return nil
	}
	*into = claims{}
	_, err := jwt.ParseWithClaims(token, into, func(*jwt.Token) (any, error) { return l.keys.public, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}), jwt.WithTimeFunc(l.Now))
	if err != nil {
		return Refusedf("require a token that this service trusts: %s", plain(err))
	}
	l.verified.remember(token, *into)
	return nil
}

// plain returns why a token is invalid, without the layers of the library.
func plain(err error) string {
	for _, known := range []struct {
		is   error
		text string
	}{
		{jwt.ErrTokenExpired, "it has expired"},
		{jwt.ErrTokenNotValidYet, "it is not valid yet"},
		{jwt.ErrTokenRequiredClaimMissing, "it lacks a claim"},
		{jwt.ErrTokenInvalidSubject, "it is of another object"},
		{jwt.ErrTokenSignatureInvalid, "its signature is wrong"},
	} {
		if errors.Is(err, known.is) {
			return known.text
		}
	}
	return "it cannot be read"
}

// boundCaller returns an agent, or the holder of a signed address: a caller restricted to one object.
func (l *Local) boundCaller(ctx context.Context, scheme Scheme, c claims) (Caller, error) {
	if scheme == SchemeAgent && c.ImageKey != "" {
		return Caller{}, Refusedf("the token of an image's address is no agent's")
	}
	if (c.InfraEnvID == "") == (c.ClusterID == "") {
		return Caller{}, Refusedf("require a token with one of the claims infra_env_id and cluster_id")
	}
	text, name := c.InfraEnvID, "infra_env_id"
	if text == "" {
		text, name = c.ClusterID, "cluster_id"
	}
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil {
		return Caller{}, Refusedf("require a UUID in the claim %s, found %q", name, text)
	}
	caller := Caller{Name: string(scheme), Role: RoleAddress, Scheme: scheme, Admin: true}
	if c.ExpiresAt != nil {
		caller.ExpiresAt = c.ExpiresAt.Time
	}
	if c.ClusterID != "" {
		caller.ClusterID = id
	} else {
		caller.InfraEnvID = id
	}
	if scheme == SchemeURL {
		caller.Image = c.ImageKey != ""
		return caller, l.checkAddress(ctx, caller, c)
	}
	switch c.Role {
	case RoleAgent:
		return l.hostCaller(ctx, caller, c)
	case RoleController:
		return l.controllerCaller(ctx, caller, c)
	}
	return l.imageHolder(ctx, caller, c)
}

// checkAddress refuses tokens that do not belong in an address: tokens of machines and of discovery images are for their header only.
func (l *Local) checkAddress(ctx context.Context, caller Caller, c claims) error {
	switch {
	case c.Role != "":
		return Refusedf("the token of a %s is for the header %s", c.Role, SchemeAgent.Place().Name)
	case c.ImageKey != "":
		return l.checkKey(ctx, caller.InfraEnvID, c.ImageKey)
	case c.Key != "":
		return Refusedf("the token of a discovery image is for the header %s", SchemeAgent.Place().Name)
	case c.ClusterID != "":
		return nil
	case l.AgentTokens != PerInfraEnv && c.IssuedAt == nil:
		return Refusedf("the token of agents does not open an image")
	}
	return l.checkIssued(ctx, caller.InfraEnvID, c)
}

// imageHolder returns the caller of a token that discovery images contain, or that an administrator signed for agents of other
// implementations.
func (l *Local) imageHolder(ctx context.Context, caller Caller, c claims) (Caller, error) {
	v2 := c.Role == RoleForeign || c.Key == "" // see AgentToken
	if !v2 || l.AgentTokens != PerInfraEnv {
		caller.Role = RoleRegistrar
		if caller.InfraEnvID == uuid.Nil || c.Key == "" {
			return Caller{}, Refusedf("require the token of a discovery image, a host or a controller (AGENT_TOKENS=%s)", l.AgentTokens)
		}
		return caller, l.checkKey(ctx, caller.InfraEnvID, c.Key)
	}
	caller.Role = RoleForeign
	switch {
	case c.Key != "":
		return caller, l.checkKey(ctx, caller.InfraEnvID, c.Key)
	case c.InfraEnvID != "":
		return caller, l.checkIssued(ctx, caller.InfraEnvID, c)
	}
	return caller, nil
}

// checkIssued refuses a token that names no key and was signed before the key of its InfraEnv was replaced, or does not say when.
func (l *Local) checkIssued(ctx context.Context, infraEnvID uuid.UUID, c claims) error {
	if l.KeyReplaced == nil {
		return nil
	}
	replaced, err := l.KeyReplaced(ctx, infraEnvID)
	switch {
	case errors.Is(err, model.ErrNotFound):
		return Refusedf("there is no infra-env %s", infraEnvID)
	case err != nil:
		return fmt.Errorf("read when the signing key of infra-env %s was replaced: %w", infraEnvID, err)
	case !replaced.IsZero() && (c.IssuedAt == nil || c.IssuedAt.Before(replaced.Truncate(time.Second))):
		return Refusedf("the signing key of infra-env %s was replaced", infraEnvID)
	}
	return nil
}

// checkKey refuses tokens that name a signing key which was replaced.
func (l *Local) checkKey(ctx context.Context, infraEnvID uuid.UUID, name string) error {
	key, err := l.tokenKey(ctx, infraEnvID)
	if err != nil {
		return err
	}
	if !sameKey(name, model.KeyName(key)) {
		return Refusedf("the signing key of infra-env %s was replaced", infraEnvID)
	}
	return nil
}

func (l *Local) tokenKey(ctx context.Context, infraEnvID uuid.UUID) (model.Secret, error) {
	key, err := l.TokenKey(ctx, infraEnvID)
	if errors.Is(err, model.ErrNotFound) {
		return "", Refusedf("there is no infra-env %s", infraEnvID)
	}
	if err != nil {
		return "", fmt.Errorf("read the signing key of infra-env %s: %w", infraEnvID, err)
	}
	return key, nil
}
