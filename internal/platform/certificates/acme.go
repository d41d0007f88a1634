package certificates

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// ACMEOptions say where certificates of a name come from (RFC 8555).
type ACMEOptions struct {
	Directory string // https:// address of the server's directory
	// Authorities, PEM, are trusted for that address instead of the system's; empty: the system's.
	Authorities []byte
	Email       string // of the account; may be empty
	Name        string // DNS name that certificates are for
	Port        int    // of the listener, which the server's connections to port 443 are led to
	Dir         string // where account and certificates are kept
	// Otherwise answers for other names, and until there is a certificate.
	Otherwise func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Log       *slog.Logger
	Now       func() time.Time
	// Check is how often the end of the certificate is looked at; zero: every ten minutes. It is renewed in the last third of its life.
	Check time.Duration
}

// ACME gets certificates from an ACME server, and renews them. The server proves the name at the listener itself (TLS-ALPN-01, RFC 8737).
type ACME struct {
	ACMEOptions
	cache  *certmagic.Cache
	config *certmagic.Config
}

// alpnProof is the protocol by which an ACME server asks for the proof of a name (RFC 8737, section 6.2).
const alpnProof = "acme-tls/1"

// NewACME checks the options. Nothing is asked for before Keep.
func NewACME(o ACMEOptions) (*ACME, error) {
	var pool *x509.CertPool
	if len(o.Authorities) > 0 {
		if pool = x509.NewCertPool(); !pool.AppendCertsFromPEM(o.Authorities) {
			return nil, errors.New("no PEM certificate found")
		}
	}
	a := &ACME{ACMEOptions: o}
	log := zap.New(&toSlog{log: o.Log})
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.config, nil },
		Logger:           log, RenewCheckInterval: o.Check,
	})
	a.config = certmagic.New(a.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: o.Dir}, Logger: log, OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	a.config.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(a.config, certmagic.ACMEIssuer{
		CA: o.Directory, TestCA: o.Directory, Email: o.Email, Agreed: true, TrustedRoots: pool, Logger: log,
		DisableHTTPChallenge: true, AltTLSALPNPort: o.Port,
	})}
	return a, nil
}

// Server returns the settings of a listener.
func (a *ACME) Server() *tls.Config {
	proof := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{alpnProof}, GetCertificate: a.config.GetCertificate}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if slices.Contains(hello.SupportedProtos, alpnProof) {
				return proof, nil
			}
			return nil, nil //nolint:nilnil // the settings below
		},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if current := a.current(); hello.ServerName == a.Name && current != nil && a.Now().Before(current.Leaf.NotAfter) {
				return current, nil
			}
			return a.Otherwise(hello)
		},
	}
}

// current returns the certificate that ends last; nil: there is none yet.
func (a *ACME) current() *tls.Certificate {
	all := a.cache.AllMatchingCertificates(a.Name)
	if len(all) == 0 {
		return nil
	}
	latest := slices.MaxFunc(all, func(x, y certmagic.Certificate) int { return x.Leaf.NotAfter.Compare(y.Leaf.NotAfter) })
	return &latest.Certificate
}

// End returns when the certificate ends; an error says that there is none yet.
func (a *ACME) End() (time.Time, error) {
	if current := a.current(); current != nil {
		return current.Leaf.NotAfter, nil
	}
	return time.Time{}, fmt.Errorf("%s has no certificate of %s yet", a.Name, a.Directory)
}

// Keep gets the certificate, and the next ones, until ctx ends. The listener has to be open, and no connection waits for it.
func (a *ACME) Keep(ctx context.Context) {
	defer a.cache.Stop()
	if err := a.config.ManageAsync(ctx, []string{a.Name}); err != nil && ctx.Err() == nil {
		a.Log.Error("no certificate by ACME: the service's own is sent instead", "name", a.Name, "directory", a.Directory, "error", err)
	}
	<-ctx.Done()
}

// toSlog passes on what the library logs, with everything that is no fault at debug.
type toSlog struct {
	log    *slog.Logger
	fields []zapcore.Field
}

func (t *toSlog) level(of zapcore.Level) slog.Level {
	if of >= zapcore.WarnLevel {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled implements zapcore.Core.
func (t *toSlog) Enabled(of zapcore.Level) bool {
	return t.log.Enabled(context.Background(), t.level(of))
}

// With implements zapcore.Core.
func (t *toSlog) With(fields []zapcore.Field) zapcore.Core {
	return &toSlog{log: t.log, fields: append(slices.Clip(t.fields), fields...)}
}

// Check implements zapcore.Core.
func (t *toSlog) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if t.Enabled(e.Level) {
		return to.AddCore(e, t)
	}
	return to
}

// Write implements zapcore.Core.
func (t *toSlog) Write(e zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clip(t.fields), fields...) {
		f.AddTo(values)
	}
	attributes := []slog.Attr{slog.String("part", cmp.Or(e.LoggerName, "certificates"))}
	for name, value := range values.Fields {
		attributes = append(attributes, slog.Any(name, value))
	}
	t.log.LogAttrs(context.Background(), t.level(e.Level), e.Message, attributes...)
	return nil
}

// Sync implements zapcore.Core.
func (t *toSlog) Sync() error { return nil }
