package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
)

// ImageToken signs a token that gives access to the files of an InfraEnv until it expires: HS256 with the
// InfraEnv's own key, the InfraEnv's id in sub (docs/reference/auth.md, "Tokens").
func ImageToken(key model.Secret, infraEnvID uuid.UUID, expires time.Time) (string, error) {
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: infraEnvID.String(), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString([]byte(key.Reveal()))
	if err != nil {
		return "", fmt.Errorf("sign an image token: %w", err)
	}
	return text, nil
}

// imageCaller returns the caller of an image token.
func (l *Local) imageCaller(ctx context.Context, scheme Scheme, credential string) (Caller, error) {
	var sent jwt.RegisteredClaims
	// The key depends on the InfraEnv: its id is read first and trusted only after verification.
	if _, _, err := jwt.NewParser().ParseUnverified(credential, &sent); err != nil {
		return Caller{}, Refusedf("require an image token: %s", plain(err))
	}
	id, err := uuid.Parse(sent.Subject)
	if err != nil || id == uuid.Nil {
		return Caller{}, Refusedf("require an image token with the id of an infra-env in sub, found %q", sent.Subject)
	}
	key, err := l.tokenKey(ctx, id)
	if err != nil {
		return Caller{}, err
	}
	if key == "" {
		return Caller{}, Refusedf("infra-env %s has no signing key", id)
	}
	var verified jwt.RegisteredClaims
	_, err = jwt.ParseWithClaims(credential, &verified, func(*jwt.Token) (any, error) { return []byte(key.Reveal()), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithTimeFunc(l.Now), jwt.WithExpirationRequired())
	if err != nil {
		return Caller{}, Refusedf("require an image token of infra-env %s: %s", id, plain(err))
	}
	return Caller{
		Name: string(scheme), Role: RoleAddress, Scheme: scheme, Admin: true, InfraEnvID: id, Image: true, ExpiresAt: verified.ExpiresAt.Time,
	}, nil
}

// ImageLink returns the link to the image of an InfraEnv, valid for ImageExpiration and at most until, if that is not zero. In mode local
// it is a token like an agent's that expires with the InfraEnv's signing key; without a private key it is an image token.
func (l *Local) ImageLink(e *model.InfraEnv, until time.Time) (ImageLink, error) {
	expires := l.Now().Add(l.ImageExpiration).UTC().Truncate(time.Second)
	if !until.IsZero() && until.Before(expires) {
		expires = until.UTC()
	}
	if l.Mode == ModeAgentInstaller {
		text, err := ImageToken(e.TokenKey, e.ID, expires)
		return ImageLink{ByToken, text, expires}, err
	}
	token, err := l.sign(claims{
		InfraEnvID: e.ID.String(), ImageKey: model.KeyName(e.TokenKey),
		RegisteredClaims: jwt.RegisteredClaims{ExpiresAt: jwt.NewNumericDate(expires)},
	})
	return ImageLink{ByAPIKey, token.Reveal(), expires}, err
}
