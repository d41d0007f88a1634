package programsig_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/programsig"
)

func signer(seeds ...byte) programsig.Signer {
	return programsig.Signer{Seeds: func() (all [][]byte) {
		for _, seed := range seeds {
			all = append(all, bytes.Repeat([]byte{seed}, programsig.SeedSize))
		}
		return all
	}}
}

func change() programsig.Change {
	return programsig.Change{HostID: "host", Boot: "boot", From: "1", To: "2", Architecture: "x86_64", SHA256: "abc"}
}

func TestSignatureIsOfOneChange(t *testing.T) {
	t.Parallel()
	key, err := programsig.ParsePublicKey(signer(1).PublicKey())
	require.NoError(t, err)
	signatures, err := signer(1).Sign(change())
	require.NoError(t, err)
	require.NoError(t, key.Verify(change(), signatures))
	for name, other := range map[string]func(*programsig.Change){
		"another host":         func(c *programsig.Change) { c.HostID = "other" },
		"another boot":         func(c *programsig.Change) { c.Boot = "other" },
		"another agent":        func(c *programsig.Change) { c.From = "0" },
		"the way back":         func(c *programsig.Change) { c.From, c.To = c.To, c.From },
		"another version":      func(c *programsig.Change) { c.To = "3" },
		"another architecture": func(c *programsig.Change) { c.Architecture = "arm64" },
		"another program":      func(c *programsig.Change) { c.SHA256 = "abd" },
		"no boot":              func(c *programsig.Change) { c.Boot = "" },
		"moved lines":          func(c *programsig.Change) { c.HostID, c.Boot = "host\nboot", "1" },
	} {
		c := change()
		other(&c)
		require.ErrorIs(t, key.Verify(c, signatures), programsig.ErrNotSigned, name)
	}
}

func TestHostsOfEveryKeyThatIsHeldAreServed(t *testing.T) {
	t.Parallel()
	old, err := programsig.ParsePublicKey(signer(1).PublicKey())
	require.NoError(t, err)
	signatures, err := signer(2, 1).Sign(change()) // rotated
	require.NoError(t, err)
	require.NoError(t, old.Verify(change(), signatures))
	newest, err := programsig.ParsePublicKey(signer(2, 1).PublicKey())
	require.NoError(t, err)
	require.NoError(t, newest.Verify(change(), signatures))
	signatures, err = signer(2).Sign(change()) // the old one was removed
	require.NoError(t, err)
	require.ErrorIs(t, old.Verify(change(), signatures), programsig.ErrNotSigned)
}

func TestKeysThatAreNoneVerifyNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", "AAAA"} {
		_, err := programsig.ParsePublicKey(text)
		require.ErrorContains(t, err, "require a key of 32 bytes in base64")
	}
	none, err := programsig.ParsePublicKey("")
	require.NoError(t, err)
	require.False(t, none.Known())
	signatures, err := signer(1).Sign(change())
	require.NoError(t, err)
	require.ErrorIs(t, none.Verify(change(), append(signatures, "", "?")), programsig.ErrNotSigned)
	require.Empty(t, programsig.Signer{}.PublicKey())
}
