// Package signature verifies that the image of a release was signed by a key of the settings: as an "atomic container signature", which
// a signature store holds beside the registry, or as a signature of cosign, which the registry holds beside the image.
package signature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"

	"slipway/internal/model"
)

// Policy says what follows from a release without a good signature.
type Policy string

// The policies.
const (
	Off     Policy = "off"     // nothing is verified
	Warn    Policy = "warn"    // the release is installed, and the cluster shows why it was not verified
	Require Policy = "require" // the release is not installed
)

// ParsePolicy reads a policy. Empty means the policy that fits the keys: Require with keys, Off without.
func ParsePolicy(text string, keys bool) (Policy, error) {
	policy := Policy(text)
	switch {
	case policy == "" && keys:
		return Require, nil
	case policy == "":
		return Off, nil
	case !slices.Contains([]Policy{Off, Warn, Require}, policy):
		return "", model.Invalidf("require off, warn or require, found %q", text)
	case policy != Off && !keys:
		return "", model.Invalidf("%s requires a key: --release-signature-keys or --release-cosign-keys", policy)
	}
	return policy, nil
}

// Options are the keys of a Verifier and where it looks; a zero field gets the default named beside it.
type Options struct {
	Policy     Policy
	Keys       openpgp.EntityList // of atomic container signatures
	CosignKeys []CosignKey
	Stores     []Store // of atomic container signatures, asked in this order
	// Transport reaches the stores, and decides which addresses may be.
	Transport http.RoundTripper // http.DefaultTransport
	// Timeout bounds the answer of one store.
	Timeout time.Duration    // 30 seconds
	Now     func() time.Time // time.Now
}

// Verifier verifies releases.
type Verifier struct {
	options Options
	client  *http.Client
}

// New returns a verifier.
func New(o Options) *Verifier {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	return &Verifier{options: o, client: &http.Client{Transport: o.Transport, CheckRedirect: checkRedirect}}
}

// Policy returns what follows from a release without a good signature.
func (v *Verifier) Policy() Policy {
	return cmp.Or(v.options.Policy, Off)
}

// Attached is a signature of cosign, as a registry has it.
type Attached struct {
	Payload   []byte
	Signature string // base64
}

// Image is an image to verify.
type Image struct {
	Digest string // sha256:...
	// Attached reads the signatures of cosign, and says where it looked.
	Attached func(context.Context) (found []Attached, places string, err error)
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Verify returns who signed an image. Its error says what was looked for, and where: a model.ErrUnavailable when a place did not answer,
// so that another try can end differently, else a model.ErrUnprocessable.
func (v *Verifier) Verify(ctx context.Context, image Image) (by string, err error) {
	if !digestForm.MatchString(image.Digest) {
		return "", model.Invalidf("require a digest such as sha256:<64 hexadecimal digits>, found %q", image.Digest)
	}
	s := &search{Verifier: v, image: image}
	if len(v.options.Keys) > 0 {
		for _, store := range v.options.Stores {
			if by := s.inStore(ctx, store); by != "" {
				return by, nil
			}
		}
	}
	if len(v.options.CosignKeys) > 0 {
		if by := s.atRegistry(ctx); by != "" {
			return by, nil
		}
	}
	return "", s.failure(ctx)
}

// search collects where a signature was looked for.
type search struct {
	*Verifier
	image   Image
	looked  []string
	passing bool // another try can end differently
}

func (s *search) note(place, format string, args ...any) {
	s.looked = append(s.looked, place+": "+fmt.Sprintf(format, args...))
}

// failed notes that a place gave no answer.
func (s *search) failed(place string, err error) {
	if !lasting(err) {
		s.passing = true
	}
	s.note(place, "%s", err)
}

func lasting(err error) bool {
	return errors.Is(err, model.ErrUnprocessable) || errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrNotFound)
}

// inStore returns who signed the image by a signature of a store. Stores number them from one, without a gap.
func (s *search) inStore(ctx context.Context, store Store) string {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	for n := 1; n <= maxSignatures; n++ {
		place := store.place(s.image.Digest, n)
		data, err := store.read(ctx, s.client, place)
		if errors.Is(err, errNone) {
			if n == 1 {
				s.note(place, "there is none")
			}
			return ""
		}
		if err != nil {
			s.failed(place, err)
			return ""
		}
		by, err := checkAtomic(data, s.image.Digest, s.options.Keys, s.options.Now)
		if err == nil {
			return by
		}
		s.note(place, "%s", err)
	}
	return ""
}

// atRegistry returns who signed the image by a signature beside it.
func (s *search) atRegistry(ctx context.Context) string {
	found, place, err := s.image.Attached(ctx)
	switch {
	case errors.Is(err, model.ErrNotFound), err == nil && len(found) == 0:
		s.note(place, "there is none")
		return ""
	case err != nil:
		s.failed(place, err)
		return ""
	}
	for _, a := range found[:min(len(found), maxSignatures)] {
		by, err := checkCosign(a, s.image.Digest, s.options.CosignKeys)
		if err == nil {
			return by
		}
		s.note(place, "%s", err)
	}
	return ""
}

func (s *search) failure(ctx context.Context) error {
	places := strings.Join(s.looked, "; ")
	if places == "" {
		places = "--release-signature-stores names no store"
	}
	text := fmt.Sprintf("require a signature of release %s by a key of this service (--release-signatures), looked at %s",
		s.image.Digest, places)
	if s.passing || ctx.Err() != nil {
		return fmt.Errorf("%s: %w", text, model.ErrUnavailable)
	}
	return model.Unprocessablef("%s", text)
}
