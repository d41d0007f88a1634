package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/platform/frontend"
)

// database checks the PostgreSQL of the settings, or the programs of the bundled one.
func (e *examination) database(ctx context.Context) {
	const check = "PostgreSQL"
	if e.Settings.DatabaseURL == "" {
		e.programsOfPostgres()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := pgx.Connect(ctx, e.Settings.DatabaseURL)
	if err != nil {
		e.problem(check, err.Error(), "start the server, let this machine and user in (pg_hba.conf), or correct --database-url")
		return
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var version string
	var creates bool
	const question = `select current_setting('server_version'), has_database_privilege(current_database(), 'create')`
	err = c.QueryRow(ctx, question).Scan(&version, &creates)
	switch {
	case err != nil:
		e.problem(check, err.Error(), "")
	case !creates:
		e.problem(check, "the user of --database-url may not make schemas in its database",
			"grant it create on the database, or run slipway migrate as the owner")
	default:
		e.ok(check, "version "+version+" answers")
	}
}

// temporal checks the Temporal of the settings, or the ports of the bundled one.
func (e *examination) temporal(ctx context.Context) {
	const check = "Temporal"
	connection, external, err := frontend.External(e.Process.Env)
	if err != nil {
		e.problem(check, err.Error(), "correct the variables TEMPORAL_*")
		return
	}
	if !external {
		if e.listens {
			return
		}
		if err := e.Ports(e.Settings.TemporalPort); err != nil {
			e.problem(check, err.Error(), "end the program that has it (ss -ltnp), or choose others with --temporal-port")
			return
		}
		e.ok(check, "its ports are free")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.DialContext(ctx, connection.Options)
	if err != nil {
		e.problem(check, fmt.Sprintf("%s: %v", connection.Options.HostPort, err), "start it, or correct TEMPORAL_ADDRESS and TEMPORAL_TLS_*")
		return
	}
	defer c.Close()
	namespace := connection.Options.Namespace
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	var missing *serviceerror.NamespaceNotFound
	switch {
	case errors.As(err, &missing):
		e.ok(check, connection.Options.HostPort+" answers; the first start creates namespace "+namespace)
	case err != nil:
		e.problem(check, fmt.Sprintf("%s: namespace %s: %v", connection.Options.HostPort, namespace, err),
			"correct TEMPORAL_API_KEY, TEMPORAL_TLS_CLIENT_CERT_PATH or TEMPORAL_NAMESPACE, or have its operator give them the rights")
	default:
		e.ok(check, connection.Options.HostPort+" answers, with namespace "+namespace)
	}
}

// newCarrier returns a client that trusts what the service trusts of registries.
func newCarrier(bundles []string) *http.Client {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, bundle := range bundles {
		pool.AppendCertsFromPEM([]byte(bundle))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http's own; proxies come from the environment
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Timeout: patience, Transport: transport}
}

// answers returns an error when nothing answers at an address. Any status is an answer: registries ask for a login.
func answers(ctx context.Context, c *http.Client, method, address string) error {
	request, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// publicRegistry has the releases that are shipped with the service.
const publicRegistry = "quay.io"

// registries asks each mirror, and the registry of the releases where no mirror has them.
func (e *examination) registries(ctx context.Context) {
	var hosts []string
	for _, m := range e.outside.Mirrors {
		for _, l := range m.Locations {
			hosts = append(hosts, strings.SplitN(l.Location, "/", 2)[0])
		}
	}
	mirrored := len(hosts) > 0
	for _, image := range e.outside.Releases {
		hosts = append(hosts, strings.SplitN(image, "/", 2)[0])
	}
	slices.Sort(hosts)
	for _, host := range slices.Compact(hosts) {
		scheme := "https://"
		if slices.Contains(e.Settings.InsecureRegistry, host) {
			scheme = "http://"
		}
		err := answers(ctx, e.carrier, http.MethodGet, scheme+host+"/v2/")
		switch {
		case err == nil:
			e.ok("registry", host+" answers")
		case mirrored && host == publicRegistry:
			e.warning("registry", err.Error(), "nothing, where a mirror has the releases")
		default:
			e.problem("registry", err.Error(),
				"let this machine reach it (firewall, HTTPS_PROXY), name a mirror with --mirror-registries, or its authority with --mirror-ca")
		}
	}
}

// osImages looks for the live image of the newest version.
func (e *examination) osImages(ctx context.Context) {
	const check = "live images"
	if len(e.outside.OSImages) == 0 {
		e.problem(check, "there are none", "list some in OS_IMAGES, or run slipway versions update")
		return
	}
	newest := e.outside.OSImages[0]
	what := "the image of OpenShift " + newest.OpenShiftVersion
	if newest.Path != "" {
		if _, err := os.Stat(newest.Path); err != nil {
			e.problem(check, err.Error(), "correct OS_IMAGES")
			return
		}
		e.ok(check, what+" is "+newest.Path)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := e.outside.AskImage(ctx, newest)
	have := e.outside.Downloaded
	const do = "let this machine reach it (firewall, HTTPS_PROXY, --image-download-ca), correct OS_IMAGES, " +
		"or add images with slipway images add"
	switch {
	case err == nil:
		e.ok(check, what+" can be downloaded")
	case have > 0:
		e.warning(check, fmt.Sprintf("%d are here; %s cannot be downloaded: %v", have, what, err), do)
	default:
		e.problem(check, what+" cannot be downloaded: "+err.Error(), do)
	}
}

// updateService asks for newer releases where the settings want that.
func (e *examination) updateService(ctx context.Context) {
	if !e.outside.Syncs {
		return
	}
	if err := answers(ctx, e.carrier, http.MethodHead, e.Settings.UpdateService); err != nil {
		e.warning("update service", err.Error(),
			"nothing, where the site has no internet: RELEASE_SOURCES='[]' stops asking, and the shipped releases are offered")
		return
	}
	e.ok("update service", e.Settings.UpdateService+" answers")
}
