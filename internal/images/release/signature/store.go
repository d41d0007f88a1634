package signature

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"

	"slipway/internal/model"
)

// maxRedirects bounds how often a store may send us elsewhere.
const maxRedirects = 5

// errNone: a store has no such signature.
var errNone = errors.New("no such signature")

// Store is a signature store (containers-registries.d(5), "lookaside"): a folder, or an address.
type Store struct{ base *url.URL }

// ParseStore reads the address of a store: https://, http:// or, of a folder, file://. A folder must exist.
func ParseStore(text string) (Store, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Store{}, model.Invalidf("require the address of a signature store, found %q", text)
	}
	switch {
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "":
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path):
		if info, err := os.Stat(u.Path); err != nil || !info.IsDir() {
			return Store{}, model.Invalidf("require a folder for the signature store %s, found none", text)
		}
	default:
		return Store{}, model.Invalidf("require a signature store such as https://host/path or file:///folder, found %q", text)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return Store{u}, nil
}

// Host returns host:port of the store; empty for a folder.
func (s Store) Host() string {
	switch {
	case s.base.Host == "":
		return ""
	case s.base.Port() != "":
		return s.base.Host
	case s.base.Scheme == "http":
		return net.JoinHostPort(s.base.Hostname(), "80")
	}
	return net.JoinHostPort(s.base.Hostname(), "443")
}

// place returns where a store has a signature of an image.
func (s Store) place(digest string, n int) string {
	return s.base.String() + "/" + strings.Replace(digest, ":", "=", 1) + "/signature-" + strconv.Itoa(n)
}

// read returns the signature at a place of the store; errNone when there is none.
func (s Store) read(ctx context.Context, client *http.Client, place string) ([]byte, error) {
	if s.base.Scheme == "file" {
		return readFile(s.base.Path + strings.TrimPrefix(place, s.base.String()))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for a signature: %w", err)
	}
	request.Header.Set("User-Agent", "slipway")
	answer, err := client.Do(request)
	if err != nil {
		return nil, withoutAddress(err)
	}
	defer answer.Body.Close()
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		return readBounded(answer.Body)
	case code == http.StatusNotFound:
		return nil, errNone
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return nil, fmt.Errorf("it answers with status %d", code)
	default:
		return nil, model.Unprocessablef("it answers with status %d", code)
	}
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe would wait for its writer
		return nil, model.Unprocessablef("require a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	defer f.Close()
	return readBounded(f)
}

// withoutAddress drops the address of a request from its error: the place is named already.
func withoutAddress(err error) error {
	var about *url.Error
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}

// checkRedirect keeps a store from sending us in circles, and from a connection that is encrypted to one that is not.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return model.Unprocessablef("require at most %d redirects", maxRedirects)
	}
	if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return model.Unprocessablef("require a redirect to https, found %s", next.URL.Redacted())
	}
	return nil
}

// explain turns an error of a signature into one a user can act on.
func explain(err error) error {
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return errors.New("it is not by a key of --release-signature-keys")
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return errors.New("it is by a key that has expired")
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return errors.New("it is by a key that was revoked")
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return errors.New("it has expired")
	}
	return fmt.Errorf("it is not good: %w", err)
}
