package service

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"slipway/internal/client/contexts"
	"slipway/internal/platform/auth"
)

const (
	// administratorLife is how long the token in the file of the administrator is good; a new one is there long before.
	administratorLife = 30 * 24 * time.Hour
	renewEvery        = 24 * time.Hour
)

// letAdministratorIn writes the file with which the command line of this machine uses the service, and keeps its token good.
// The first start prints the token once.
func (s *Service) letAdministratorIn(ctx context.Context) error {
	path := filepath.Join(s.options.DataDir, contexts.AdminFile)
	before, err := contexts.Read(path)
	if err != nil {
		return err
	}
	token, err := s.writeAdministrator(path)
	if err != nil {
		return err
	}
	if len(before.Contexts) == 0 && token != "" {
		s.firstToken = token
	}
	s.background("token of the administrator", func(ctx context.Context) {
		ticks := time.NewTicker(renewEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				if _, err := s.writeAdministrator(path); err != nil {
					s.logger.ErrorContext(ctx, "token of the administrator not renewed", "error", err)
				}
			}
		}
	})
	return ctx.Err()
}

func (s *Service) writeAdministrator(path string) (string, error) {
	here := contexts.Context{Name: "admin", Server: s.options.BaseURL, Authority: []byte(s.serviceCA)}
	if local, ok := s.identity.(*auth.Local); ok && local.Mode == auth.ModeLocal {
		token, err := local.Token(auth.Grant{Scheme: auth.SchemeUser, Name: "admin", Expires: s.process.Now().Add(administratorLife)})
		if err != nil {
			return "", fmt.Errorf("make the token of the administrator: %w", err)
		}
		here.Token = token.Reveal()
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
