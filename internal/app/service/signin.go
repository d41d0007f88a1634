package service

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/app/settings"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/oidc"
	"slipway/internal/wire"
)

// signIn lets users of an issuer in: its tokens are exchanged for some of this service, which are listed and revoked as others are.
type signIn struct {
	*oidc.Provider
	settings settings.OIDC
	sign     func(model.UserToken) (model.Secret, error)
	keep     func(context.Context, model.UserToken) error
	now      func() time.Time
}

// openIssuer reads the settings of AUTH_TYPE=oidc.
func (s *Service) openIssuer(local *auth.Local) error {
	o := s.options.OIDC
	var authorities []byte
	if o.CAFile != "" {
		var err error
		if authorities, err = os.ReadFile(o.CAFile); err != nil {
			return fmt.Errorf("read OIDC_CA_FILE: %w", err)
		}
	}
	if o.UserPrefix == "-" {
		o.UserPrefix = ""
	}
	provider, err := oidc.New(oidc.Options{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Scopes: o.Scopes,
		Audiences: append(o.Audiences, o.CLIClient()),
		UserClaim: o.UserClaim, UserPrefix: o.UserPrefix, OrgClaim: o.OrgClaim, RolesClaim: o.RolesClaim,
		Roles:       map[auth.Role][]string{auth.RoleAdmin: o.Admins, auth.RoleUser: o.Users, auth.RoleViewer: o.Viewers},
		Authorities: authorities, Skew: o.Skew, Now: s.process.Now,
		Name: func(ctx context.Context, subject, name string) (string, error) {
			return s.store.IssuerUserName(ctx, o.Issuer, subject, name) // opened later
		},
	})
	if err != nil {
		return err
	}
	local.Issuer = provider
	s.signIn = &signIn{
		Provider: provider, settings: o, sign: local.UserToken, now: s.process.Now,
		keep: func(ctx context.Context, t model.UserToken) error { return s.store.CreateToken(ctx, t) },
	}
	return nil
}

// Describe says how programs without a browser sign in.
func (i *signIn) Describe() wire.SignInAt {
	return wire.SignInAt{Issuer: i.settings.Issuer, ClientID: i.settings.CLIClient(), Scopes: i.settings.Scopes}
}

// Name returns the name people know the issuer by.
func (i *signIn) Name() string {
	address, err := url.Parse(i.settings.Issuer)
	if err != nil {
		return i.settings.Issuer
	}
	return strings.TrimPrefix(address.Host, "www.")
}

// Begin gives a user of the issuer a token of this service.
func (i *signIn) Begin(ctx context.Context, caller auth.Caller) (model.UserToken, model.Secret, error) {
	now := i.now().UTC()
	t := model.UserToken{
		ID: uuid.New(), UserName: caller.Name, OrgID: caller.OrgID, Role: string(caller.Role), Note: "sign-in",
		CreatedBy: caller.Issuer, CreatedAt: now, ExpiresAt: now.Add(i.settings.Session).Truncate(time.Second),
	}
	token, err := i.sign(t)
	if err != nil {
		return t, "", err
	}
	return t, token, i.keep(ctx, t)
}
