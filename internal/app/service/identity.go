package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"slipway/api"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/oidc"
)

// identity finds callers, and makes credentials for machines.
type identity interface {
	api.Identity
	ControllerToken(clusterID uuid.UUID, attempt int) (model.Secret, error)
}

// identify reads who may use the service, before anything is started.
func (s *Service) identify() error {
	mode, err := auth.ParseMode(s.options.AuthType)
	if err != nil {
		return err
	}
	if err := s.checkSSO(mode); err != nil {
		return err
	}
	if mode == auth.ModeNone {
		s.identity = auth.None{}
		return nil
	}
	keys, users := s.options.Keys, mode
	if mode == auth.ModeOIDC || mode == auth.ModeRHSSO {
		mode = auth.ModeLocal // machines know no difference
	}
	if mode == auth.ModeLocal {
		if keys, err = s.ownKeys(keys); err != nil {
			return err
		}
	}
	local, err := LocalIdentity(keys, mode, s.options.ImageExpiration, s.process.Now)
	if err != nil {
		return fmt.Errorf("AUTH_TYPE=%s: %w", users, err)
	}
	if err := s.openUsers(users, local); err != nil {
		return fmt.Errorf("AUTH_TYPE=%s: %w", users, err)
	}
	local.AgentTokens, local.ImageTokenLife = auth.AgentTokens(s.options.AgentTokens), s.options.ImageTokenLife
	local.TokenKey = func(ctx context.Context, id uuid.UUID) (model.Secret, error) {
		return s.store.TokenKey(ctx, id) // opened later
	}
	local.KeyReplaced = func(ctx context.Context, id uuid.UUID) (time.Time, error) { return s.store.KeyReplaced(ctx, id) }
	local.Host, local.Cluster = s.hostFacts, s.clusterFacts
	local.User = func(ctx context.Context, id uuid.UUID) (model.UserToken, error) { return s.store.UseToken(ctx, id) }
	local.Endless = s.warnOfEndless()
	s.identity = local
	return nil
}

// warnOfEndless returns a function that writes to the log which objects are reached by a token without an end: once each while the
// process runs, because agents poll.
func (s *Service) warnOfEndless() func(auth.Caller) {
	var warned sync.Map
	return func(caller auth.Caller) {
		name, id := "infra_env_id", caller.InfraEnvID
		if id == uuid.Nil {
			name, id = "cluster_id", caller.ClusterID
		}
		if _, known := warned.LoadOrStore(id, true); !known {
			s.logger.Warn("a token without an end is used: replace it by one of slipway agent-token, which ends", name, id)
		}
	}
}

// warnOfSharedTokens names the loss of separation between hosts where agents share the token of their InfraEnv.
func (s *Service) warnOfSharedTokens() {
	local, signs := s.identity.(*auth.Local)
	if !signs || local.Mode != auth.ModeLocal || local.AgentTokens != auth.PerInfraEnv {
		return
	}
	const warning = "off: whoever has a discovery image acts as each host of its InfraEnv and reaches their clusters (AGENT_TOKENS=infra-env)"
	s.logger.Warn("tokens of hosts are " + warning)
	s.checks = append(s.checks, process.Check{Name: "tokens of hosts", Warning: warning})
}

// openUsers opens the source of users that the mode has beside own tokens, if it has one.
func (s *Service) openUsers(mode auth.Mode, local *auth.Local) error {
	switch mode {
	case auth.ModeOIDC:
		return s.openIssuer(local)
	case auth.ModeRHSSO:
		return s.openSSO(local)
	case auth.ModeNone, auth.ModeLocal, auth.ModeAgentInstaller:
	}
	return nil
}

// checkSSO refuses settings of Red Hat's single sign-on that have no effect: somebody relies on them.
func (s *Service) checkSSO(mode auth.Mode) error {
	o := s.options.SSO
	for name, given := range map[string]bool{
		"JWKS_URL": o.KeysURL != "", "JWKS_CERT": o.Keys != "", "JWKS_CA_FILE": o.KeysCA != "", "ADMIN_USERS": len(o.Admins) > 0,
		"ENABLE_ORG_TENANCY": o.Tenancy,
	} {
		if given && mode != auth.ModeRHSSO {
			return fmt.Errorf("%s requires AUTH_TYPE=rhsso, found AUTH_TYPE=%s", name, mode)
		}
	}
	return nil
}

// openSSO reads the settings of AUTH_TYPE=rhsso.
func (s *Service) openSSO(local *auth.Local) error {
	o := s.options.SSO
	var authorities []byte
	var err error
	if o.KeysCA != "" {
		if authorities, err = os.ReadFile(o.KeysCA); err != nil {
			return fmt.Errorf("read JWKS_CA_FILE: %w", err)
		}
	}
	local.PullSecret = s.pullSecret
	local.Issuer, err = oidc.NewSSO(oidc.SSOOptions{
		KeysURL: o.KeysURL, Keys: o.Keys, Authorities: authorities, Admins: o.Admins, Tenancy: o.Tenancy,
		Skew: s.options.Skew, Now: s.process.Now,
	})
	return err
}

// pullSecret reads the pull secret of an InfraEnv, or else of a cluster.
func (s *Service) pullSecret(ctx context.Context, infraEnvID, clusterID uuid.UUID) (model.Secret, error) {
	if infraEnvID != uuid.Nil {
		e, err := s.store.InfraEnv(ctx, infraEnvID)
		if err != nil {
			return "", err
		}
		return e.PullSecret, nil
	}
	c, err := s.store.Cluster(ctx, clusterID)
	if err != nil {
		return "", err
	}
	return c.PullSecret, nil
}

// hostFacts reads the facts that a host's token depends on.
func (s *Service) hostFacts(ctx context.Context, infraEnvID, hostID uuid.UUID) (auth.HostFacts, error) {
	a, err := s.store.HostAccess(ctx, infraEnvID, hostID)
	return auth.HostFacts{
		Generation: a.Generation, ClusterID: a.ClusterID, KeyName: a.KeyName,
		Bootstrap: a.Bootstrap && lifecycle.FetchesConfigs(a.Status, a.Stage),
		Held:      slices.Contains(lifecycle.HostsUnderInstallation, a.Status),
	}, err
}

// clusterFacts reads the facts that a controller's token depends on: the controller reports until the installation is over, and sends
// logs then.
func (s *Service) clusterFacts(ctx context.Context, id uuid.UUID) (auth.ClusterFacts, error) {
	a, err := s.store.ClusterAccess(ctx, id)
	return auth.ClusterFacts{
		Attempt: a.Attempt,
		Open: lifecycle.UnderInstallation.Has(a.Status) || a.Status == model.ClusterInstalled || a.Status == model.ClusterError ||
			a.Status == model.ClusterCancelled || a.Status == model.ClusterAddingHosts,
	}, err
}

// OwnKeys returns the key pair that was given, or the pair of the data folder.
func OwnKeys(o settings.Keys, dataDir string) (settings.Keys, error) {
	if o.PrivateKey != "" || o.PublicKey != "" {
		return o, nil
	}
	if err := os.MkdirAll(dataDir, 0o711); err != nil { //nolint:gosec // the database's own user passes through
		return o, fmt.Errorf("create data folder: %w", err)
	}
	var err error
	o.PrivateKey, o.PublicKey, err = auth.LoadOrCreateKeys(filepath.Join(dataDir, auth.KeyFile))
	return o, err
}

// LocalIdentity returns the checks of tokens that these keys sign.
func LocalIdentity(o settings.Keys, mode auth.Mode, expiration time.Duration, now func() time.Time) (*auth.Local, error) {
	return auth.NewLocal(auth.LocalOptions{
		Mode: mode, PrivateKey: o.PrivateKey, PublicKey: o.PublicKey, ImageExpiration: expiration, Now: now,
	})
}

// signingPurpose names the key of signed addresses.
const signingPurpose = "signed addresses"
