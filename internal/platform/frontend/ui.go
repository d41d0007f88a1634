package frontend

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/sdk/contrib/envconfig"
)

// UIPath is where the web UI is mounted; the pages have it built in.
const UIPath = "/temporal"

// CodecPath is where the pages have payloads opened. It is a path and no address: the pages are reached by more
// names than the service knows (an ssh tunnel, an alias, a replica), and another origin may not open payloads.
const CodecPath = UIPath + "/codec"

// UIOptions configure the web UI.
type UIOptions struct {
	Frontend Connection
	// InsecureCookies is set where browsers come over plain HTTP: they drop cookies marked
	// as secure there, and without the CSRF cookie every action is refused.
	InsecureCookies bool
	// Codec opens sealed payloads for the pages, below CodecPath; nil: none.
	Codec http.Handler
	// ReadOnly hides and refuses everything that changes a workflow.
	ReadOnly bool
}

// UI makes Temporal's web UI, to be mounted at UIPath with that prefix still in the request.
//
// The module's own server has no public handler, and with a path prefix it switches off
// its Content-Security-Policy; so the handler is put together here, from the same parts.
func UI(o UIOptions) (http.Handler, error) {
	settings := o.settings()
	provider, err := uiconfig.NewConfigProviderWithRefresh(fixedConfig{settings})
	if err != nil {
		return nil, fmt.Errorf("configure web UI: %w", err)
	}
	pages, err := prefixedPages(o.Frontend.profile.Namespace)
	if err != nil {
		return nil, err
	}
	policy := contentPolicy(pages.scripts)
	e := echo.New()
	e.Pre(route.PublicPath(UIPath))
	e.Use(middleware.Recover(), middleware.Gzip(), securityHeaders(policy),
		csrf.EnsureTokenCookie(!o.InsecureCookies),
		middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, !o.InsecureCookies)),
		fence{namespace: o.Frontend.profile.Namespace, readOnly: o.ReadOnly}.restrict, apiKey(o.Frontend.profile.APIKey))
	forwarded := []api.Middleware{headers.WithForwardHeaders([]string{"Caller-Type"})}
	if err := route.SetAPIRoutes(e, provider, forwarded); err != nil {
		return nil, fmt.Errorf("connect web UI: %w", err)
	}
	route.SetRenderRoute(e, "/")
	// The prefix is in the pages already, so the routes get none.
	if err := route.SetUIRoutes(e, "", pages, provider); err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	return o.withCodec(e), nil
}

// withCodec serves the codec beside the pages. It is outside of their CSRF check: they send it no CSRF token, and
// no page of another origin can read the payloads it opens.
func (o UIOptions) withCodec(pages http.Handler) http.Handler {
	if o.Codec == nil {
		return pages
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+CodecPath+"/", o.Codec)
	mux.Handle("/", pages)
	return mux
}

type fixedConfig struct{ config *uiconfig.Config }

func (f fixedConfig) GetConfig() (*uiconfig.Config, error) { return f.config, nil }

func (o UIOptions) settings() *uiconfig.Config {
	profile := o.Frontend.profile
	return &uiconfig.Config{
		TemporalGRPCAddress: profile.Address,
		PublicPath:          UIPath,
		EnableUI:            true,
		DefaultNamespace:    profile.Namespace,
		DisableNewsFetch:    true,
		Distribution:        "slipway",
		DisableWriteActions: o.ReadOnly,
		// The service starts all workflows; the fence refuses the calls.
		StartWorkflowDisabled: true,
		HideLogs:              true,
		TLS:                   uiTLS(profile),
		Codec:                 uiconfig.Codec{Endpoint: o.codecEndpoint()},
		CORS:                  uiconfig.CORS{CookieInsecure: o.InsecureCookies},
	}
}

func (o UIOptions) codecEndpoint() string {
	if o.Codec == nil {
		return ""
	}
	return CodecPath
}

// uiTLS translates the settings of a client. The UI treats TLS as disabled unless one of its settings is
// present, so the server's name is always set.
func uiTLS(profile envconfig.ClientConfigProfile) uiconfig.TLS {
	t := profile.TLS
	if t == nil && profile.APIKey != "" {
		t = &envconfig.ClientConfigTLS{}
	}
	if t == nil || t.Disabled {
		return uiconfig.TLS{}
	}
	name := t.ServerName
	if name == "" {
		name, _, _ = strings.Cut(profile.Address, ":")
	}
	encode := base64.StdEncoding.EncodeToString
	return uiconfig.TLS{
		CaFile: t.ServerCACertPath, CertFile: t.ClientCertPath, KeyFile: t.ClientKeyPath,
		CaData: encode(t.ServerCACertData), CertData: encode(t.ClientCertData), KeyData: encode(t.ClientKeyData),
		ServerName: name, EnableHostVerification: !t.DisableHostVerification,
	}
}

// apiKey adds the cluster's API key. It comes after the CSRF check, which trusts every request that has such a
// header, and after the fence, which removes callers' keys.
func apiKey(key string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if key != "" && strings.HasPrefix(c.Request().URL.Path, "/api/") {
				c.Request().Header.Set(echo.HeaderAuthorization, "Bearer "+key)
			}
			return next(c)
		}
	}
}

// uiAssets returns the files of the web UI module.
func uiAssets() (fs.FS, error) {
	all, err := ui.Assets()
	if err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	local, err := fs.Sub(all, "local")
	if err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	return local, nil
}
