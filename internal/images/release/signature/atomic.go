package signature

import (
	"bufio"
	"bytes"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"slipway/internal/model"
)

const (
	// maxSignatures bounds how many signatures of one place are tried, and maxSignature the bytes of each, packed and unpacked; a
	// signature of a release has some 1000.
	maxSignatures = 10
	maxSignature  = 64 << 10
	maxPackets    = 32
)

// hashes lists the hashes that signatures are accepted with.
var hashes = []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512}

// ParseKeys reads armored public keys of OpenPGP.
func ParseKeys(data []byte) (openpgp.EntityList, error) {
	var keys openpgp.EntityList
	rest := bufio.NewReader(bytes.NewReader(data)) // which Decode reads from without a buffer of its own
	for {                                          // a file can have several blocks, one after another
		block, err := armor.Decode(rest)
		if errors.Is(err, io.EOF) && len(keys) > 0 {
			return keys, nil
		}
		if err != nil {
			return nil, model.Invalidf("require public keys of OpenPGP between BEGIN and END PGP PUBLIC KEY BLOCK, found none")
		}
		if block.Type != openpgp.PublicKeyType {
			return nil, model.Invalidf("require blocks of type %s, found %s", openpgp.PublicKeyType, block.Type)
		}
		found, err := openpgp.ReadKeyRing(block.Body)
		if err != nil {
			return nil, model.Invalidf("read public keys of OpenPGP: %s", err)
		}
		keys = append(keys, found...)
	}
}

// statement is the signed text (containers-signature(5), and sigstore/cosign, specs/SIGNATURE_SPEC.md).
type statement struct {
	Critical struct {
		Type  string `json:"type"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
	} `json:"critical"`
}

// Types of statements.
const (
	typeAtomic = "atomic container signature"
	typeCosign = "cosign container image signature"
)

// checkStatement returns why a signed text does not speak for an image. The name of the image in it is not compared: a mirror has another
// one, and the digest is the image.
func checkStatement(text []byte, kind, digest string) error {
	var s statement
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read what is signed: %w", err)
	}
	c := s.Critical
	switch {
	case c.Type != kind:
		return fmt.Errorf("require what is signed to be of type %q, found %q", kind, c.Type)
	case c.Image.Digest != digest:
		return fmt.Errorf("it is of another image, %q", c.Image.Digest)
	case c.Identity.Reference == "":
		return errors.New("require a docker-reference in what is signed, found none")
	}
	return nil
}

// checkAtomic returns who signed an image by an atomic container signature: a signed message of OpenPGP.
func checkAtomic(message []byte, digest string, keys openpgp.EntityList, now func() time.Time) (by string, err error) {
	text, signatures, err := open(message)
	if err != nil {
		return "", err
	}
	failure := errors.New("require a signed message of OpenPGP, found no signature in it")
	for _, s := range signatures {
		signer, err := openpgp.CheckDetachedSignatureAndHash(keys, bytes.NewReader(text), bytes.NewReader(s), hashes, &packet.Config{Time: now})
		if err != nil {
			failure = explain(err)
			continue
		}
		// Only now: nothing of a text without a good signature is read.
		if failure = checkStatement(text, typeAtomic, digest); failure == nil {
			return fmt.Sprintf("OpenPGP key %X", signer.PrimaryKey.Fingerprint), nil
		}
	}
	return "", failure
}

// open returns the text of a signed message, and its signatures.
func open(message []byte) (text []byte, signatures [][]byte, err error) {
	packets := packet.NewReader(bytes.NewReader(message))
	limit := int64(maxSignature)
	for range maxPackets {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) {
			return text, signatures, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("require a signed message of OpenPGP: %w", err)
		}
		switch p := p.(type) {
		case *packet.Compressed:
			if err := packets.Push(p.LimitedBodyReader(&limit)); err != nil {
				return nil, nil, fmt.Errorf("unpack a message of OpenPGP: %w", err)
			}
		case *packet.LiteralData:
			if text != nil {
				return nil, nil, errors.New("require one text in a signed message of OpenPGP, found two")
			}
			if text, err = readBounded(p.Body); err != nil {
				return nil, nil, err
			}
		case *packet.Signature:
			var b bytes.Buffer
			if err := p.Serialize(&b); err != nil {
				return nil, nil, fmt.Errorf("read a signature of OpenPGP: %w", err)
			}
			signatures = append(signatures, b.Bytes())
		}
	}
	return nil, nil, fmt.Errorf("require at most %d packets in a signed message of OpenPGP, found more", maxPackets)
}

// readBounded reads all that r has.
func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSignature+1))
	if err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	if len(data) > maxSignature {
		return nil, model.Unprocessablef("require a signature of at most %d bytes, found more", maxSignature)
	}
	return data, nil
}
