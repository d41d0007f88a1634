package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
)

// Grant holds the permissions of a token of the service: either a scheme, with everything a user or an agent
// may do, or one object.
type Grant struct {
	Scheme                Scheme // SchemeUser, SchemeAgent or SchemeWatcher
	Name                  string // the user it is issued to; empty: the administrator
	ReadOnly              bool   // of a user: nothing may be changed with it
	InfraEnvID, ClusterID uuid.UUID
	Expires               time.Time // zero: never
	// Issued is when an administrator signed it; zero: unknown. The token of an InfraEnv ends when its key is replaced later.
	Issued time.Time
}

// Token signs a grant (ES256). It needs the private key.
func (l *Local) Token(g Grant) (model.Secret, error) {
	c := claims{AuthScheme: g.Scheme, ReadOnly: g.ReadOnly, RegisteredClaims: jwt.RegisteredClaims{Subject: g.Name}}
	if g.InfraEnvID != uuid.Nil {
		c.InfraEnvID = g.InfraEnvID.String()
	}
	if g.ClusterID != uuid.Nil {
		c.ClusterID = g.ClusterID.String()
	}
	if !g.Expires.IsZero() {
		c.ExpiresAt = jwt.NewNumericDate(g.Expires)
	}
	if !g.Issued.IsZero() {
		c.IssuedAt = jwt.NewNumericDate(g.Issued)
	}
	return l.sign(c)
}

func (l *Local) sign(c claims) (model.Secret, error) {
	if l.keys.private == nil {
		return "", errors.New("sign a token: EC_PRIVATE_KEY_PEM is required")
	}
	text, err := jwt.NewWithClaims(es256{jwt.SigningMethodES256}, c).SignedString(l.keys.private)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return model.Secret(text), nil
}

// imageTokenStep is how long images of one content get one token: parts of an image that are fetched on one day belong together.
const imageTokenStep = 24 * time.Hour

// AgentToken is the token in a discovery image.
type AgentToken struct {
	Secret model.Secret
	// Since is when images began to have it, Until when it ends; zero: never.
	Since, Until time.Time
}

// AgentToken returns the token of the agents of an InfraEnv, which ends when the signing key is replaced, and at the end of the day on
// which it is ImageTokenLife old. With PerInfraEnv it has no such end: agents of other implementations know no other token, and are being
// installed with it. It is empty where another service signs, because agents have their token from there.
func (l *Local) AgentToken(e *model.InfraEnv) (t AgentToken, err error) {
	c := claims{InfraEnvID: e.ID.String(), Key: model.KeyName(e.TokenKey)}
	switch {
	case l.Mode == ModeAgentInstaller:
		return t, nil
	case l.pullSecrets():
		if t.Secret = cloudToken(e.PullSecret); t.Secret == "" {
			err = model.Conflictf("infra-env %s: require a pull secret with cloud.openshift.com, which its agents prove themselves with", e.ID)
		}
		return t, err
	case l.AgentTokens == PerInfraEnv:
		c.Role = RoleForeign // the token of an image that was made in the other mode gains nothing by this one
	case l.ImageTokenLife > 0:
		t.Since = l.Now().UTC().Truncate(imageTokenStep)
		t.Until = t.Since.Add(imageTokenStep + l.ImageTokenLife).Truncate(time.Second)
		c.ExpiresAt = jwt.NewNumericDate(t.Until)
	}
	t.Secret, err = l.sign(c)
	return t, err
}
