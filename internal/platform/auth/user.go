package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
)

// Issuer identifies users by tokens that it signed, which name it in the claim iss. Its errors are as for Caller.
type Issuer interface {
	Caller(ctx context.Context, token string) (Caller, error)
}

// UserRoles lists the roles of people and of their programs; the role that may do most comes first.
var UserRoles = []Role{RoleAdmin, RoleUser, RoleKube, RoleViewer}

// ErrNoUserTokens says why a service makes no tokens of users.
var ErrNoUserTokens = errors.New("require AUTH_TYPE=local to make tokens of users")

// UserToken signs a token that is good as long as the service knows it. It is of ErrNoUserTokens where another service signs.
func (l *Local) UserToken(t model.UserToken) (model.Secret, error) {
	if l.Mode != ModeLocal {
		return "", ErrNoUserTokens
	}
	return l.sign(claims{AuthScheme: SchemeUser, UserRole: Role(t.Role), OrgID: t.OrgID, RegisteredClaims: jwt.RegisteredClaims{
		ID: t.ID.String(), Subject: t.UserName, ExpiresAt: jwt.NewNumericDate(t.ExpiresAt),
	}})
}

// ofIssuer reports whether a token names who signed it; tokens of this service do not. It is verified later.
func ofIssuer(token string) bool {
	var c jwt.RegisteredClaims
	sent, _, err := jwt.NewParser().ParseUnverified(token, &c)
	return err == nil && (c.Issuer != "" || sent.Method.Alg() == jwt.SigningMethodRS256.Alg())
}

// userCaller returns the owner of a token that UserToken signed, with what it may do now.
func (l *Local) userCaller(ctx context.Context, c claims) (Caller, error) {
	id, err := uuid.Parse(c.ID)
	if err != nil || id == uuid.Nil {
		return Caller{}, Refusedf("the token has no id: require a token of a user that this service knows (slipway token create)")
	}
	t, err := l.User(ctx, id)
	if errors.Is(err, model.ErrNotFound) {
		return Caller{}, Refusedf("the token was revoked")
	}
	if err != nil {
		return Caller{}, fmt.Errorf("read token %s: %w", id, err)
	}
	signed := t.UserName == c.Subject
	if c.UserRole != "" {
		signed = signed && t.Role == string(c.UserRole) && t.OrgID == c.OrgID
	}
	if !signed {
		return Caller{}, Refusedf("the row of the token in the database is not as it was signed: revoke it and make another")
	}
	caller := Caller{Name: t.UserName, OrgID: t.OrgID, Role: Role(t.Role), Scheme: SchemeUser, TokenID: id}
	caller.Admin = caller.Role == RoleAdmin || caller.Role == RoleViewer
	if !slices.Contains(UserRoles, caller.Role) {
		return Caller{}, Refusedf("require a token with one of the roles %v, found %q", UserRoles, t.Role)
	}
	return caller, nil
}
