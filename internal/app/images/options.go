package images

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/liveisos"
	"slipway/internal/model"
)

// digestsRequired is the setting that refuses images without a digest.
const digestsRequired = "required"

// StoreOptions returns the options of the store of images: the available ones, and how they are downloaded; on demand,
// or all at the start.
func StoreOptions(
	o settings.Downloads, p *process.Process, dataDir string, images openshift.OSImages, onDemand bool,
) (liveisos.Options, error) {
	out := liveisos.Options{Folder: o.Path(dataDir), Images: images, OnDemand: onDemand, Log: p.Log, Now: p.Now}
	if o.ImageDigests == digestsRequired {
		for _, image := range images {
			if image.SHA256 == "" {
				return out, fmt.Errorf("OS_IMAGE_DIGESTS=%s: require sha256 of the operating system image of OpenShift %s, found none "+
					"(list it in OS_IMAGES, or take lists with: slipway versions update)", digestsRequired, image.Key())
			}
		}
	}
	var err error
	if out.Headers, err = secretMap("OS_IMAGES_REQUEST_HEADERS", o.ImageHeaders); err != nil {
		return out, err
	}
	if out.Query, err = secretMap("OS_IMAGES_REQUEST_QUERY_PARAMS", o.ImageQuery); err != nil {
		return out, err
	}
	// A clone of the default: proxies come from the environment.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.ImageCA != "" {
		roots, err := trusted(o.ImageCA)
		if err != nil {
			return out, fmt.Errorf("read OS_IMAGE_DOWNLOAD_TRUSTED_CA_FILE: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	out.Client = &http.Client{Transport: transport}
	return out, nil
}

// trusted returns the system's certificates, and the certificates in a file.
func trusted(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read certificates of the system: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no PEM certificate found in %s", file)
	}
	return roots, nil
}

// secretMap reads a JSON object of texts; its values never show in an error.
func secretMap(name string, text model.Secret) (map[string]model.Secret, error) {
	if text == "" {
		return nil, nil
	}
	var values map[string]model.Secret
	if err := json.Unmarshal([]byte(text.Reveal()), &values); err != nil {
		return nil, fmt.Errorf(`read %s: require a JSON object of texts, such as {"name":"value"}`, name)
	}
	return values, nil
}
