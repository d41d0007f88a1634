package service

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client/contexts"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
)

const (
	// administratorLife is how long the token in the file of the administrator is good; a new one is there long before.
	administratorLife = 30 * 24 * time.Hour
	renewEvery        = 24 * time.Hour
	administratorName = "admin"
)

// letAdministratorIn writes the file with which the command line of this machine uses the service, and keeps its token good.
func (s *Service) letAdministratorIn(ctx context.Context) error {
	path := filepath.Join(s.options.DataDir, contexts.AdminFile)
	before, err := contexts.Read(path)
	if err != nil {
		return err
	}
	token, err := s.writeAdministrator(ctx, path)
	if err != nil {
		return err
	}
	s.first = len(before.Contexts) == 0 && token != ""
	s.background("token of the administrator", func(ctx context.Context) {
		ticks := time.NewTicker(renewEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				if _, err := s.writeAdministrator(ctx, path); err != nil {
					s.logger.ErrorContext(ctx, "token of the administrator not renewed", "error", err)
				}
			}
		}
	})
	return ctx.Err()
}

func (s *Service) writeAdministrator(ctx context.Context, path string) (string, error) {
	here := contexts.Context{Name: "admin", Server: s.options.BaseURL, Authority: []byte(s.serviceCA)}
	if local, ok := s.identity.(*auth.Local); ok && local.Mode == auth.ModeLocal {
		var err error
		if here.Token, err = s.administratorToken(ctx, local, path); err != nil {
			return "", err
		}
	}
	if s.TemporalConfig != "" {
		if err := s.Temporal.WriteConfig(s.TemporalConfig, s.CodecAddress(), here.Secret()); err != nil {
			return "", err
		}
	}
	file := contexts.File{}
	file.Put(here)
	return here.Token, file.Write(path)
}

// administratorToken returns the token in the file while it is young and valid, or another one. Those before stay valid until they
// end: they may be in the contexts of other machines.
func (s *Service) administratorToken(ctx context.Context, local *auth.Local, path string) (string, error) {
	now := s.process.Now()
	before, err := contexts.Read(path)
	if err != nil {
		return "", err
	}
	made, err := s.store.Tokens(ctx, store.TokenFilter{UserName: administratorName})
	if err != nil {
		return "", err
	}
	young := slices.ContainsFunc(made, func(t model.UserToken) bool { return t.Note == path && now.Sub(t.CreatedAt) < renewEvery/2 })
	if young && len(before.Contexts) > 0 {
		token := before.Contexts[0].Token
		if _, err := local.Caller(ctx, auth.SchemeUser, token); err == nil {
			return token, nil
		}
	}
	t := model.UserToken{
		ID: uuid.New(), UserName: administratorName, Role: string(auth.RoleAdmin), Note: path, CreatedBy: "slipway",
		CreatedAt: now, ExpiresAt: now.Add(administratorLife).Truncate(time.Second),
	}
	token, err := local.UserToken(t)
	if err != nil {
		return "", fmt.Errorf("make the token of the administrator: %w", err)
	}
	return token.Reveal(), s.store.CreateToken(ctx, t)
}
