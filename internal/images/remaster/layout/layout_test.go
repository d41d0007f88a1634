package layout_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/layout"
)

// whole reads a layout from its beginning to its end.
func whole(t *testing.T, l *layout.Layout, base []byte) []byte {
	t.Helper()
	content, err := io.ReadAll(l.Reader(bytes.NewReader(base)))
	require.NoError(t, err)
	require.EqualValues(t, l.Size(), len(content))
	return content
}

func TestPiecesFollowEachOther(t *testing.T) {
	t.Parallel()
	l := layout.Of(layout.Base(2, 3), layout.Bytes([]byte("xy")), layout.Bytes(nil), layout.Zeros(2), layout.Base(0, 2), layout.Base(2, 1))
	require.Equal(t, "cdexy\x00\x00abc", string(whole(t, l, []byte("abcdef"))))
	require.Len(t, l.Pieces(), 4, "ranges that follow each other are one")
}

func TestAnyRangeIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	base := make([]byte, 500)
	for i := range base {
		base[i] = byte(random.Uint32())
	}
	for range 200 {
		var pieces []layout.Piece
		for range 1 + random.IntN(6) {
			at := random.Int64N(400)
			pieces = append(
				pieces,
				[]layout.Piece{
					layout.Base(at, random.Int64N(100)), layout.Bytes(base[at : at+random.Int64N(50)]), layout.Zeros(random.Int64N(20)),
				}[random.IntN(3)],
			)
		}
		l := layout.Of(pieces...)
		content := whole(t, l, base)
		from, length := random.Int64N(l.Size()+5), random.Int64N(300)
		var part []byte
		for p := range l.Range(from, length) {
			part = append(part, whole(t, layout.Of(p), base)...)
		}
		from = min(from, l.Size())
		require.Equal(t, string(content[from:min(from+length, l.Size())]), string(part))
	}
}

func TestPatchesLieOverAFile(t *testing.T) {
	t.Parallel()
	base := []byte("0123456789")
	l, err := layout.Of(layout.Base(0, 10)).Over(layout.Patch{Offset: 7, Data: []byte("BC")}, layout.Patch{Offset: 0, Data: []byte("A")})
	require.NoError(t, err)
	require.Equal(t, "A123456BC9", string(whole(t, l, base)))
	for name, patches := range map[string][]layout.Patch{
		"fails beyond the end":       {{Offset: 9, Data: []byte("ab")}},
		"fails before the beginning": {{Offset: -1, Data: []byte("a")}},
		"fails over another":         {{Offset: 3, Data: []byte("abc")}, {Offset: 5, Data: []byte("x")}},
	} {
		_, err := l.Over(patches...)
		require.Error(t, err, name)
	}
}

func TestAShortBaseIsAnError(t *testing.T) {
	t.Parallel()
	_, err := io.ReadAll(layout.Of(layout.Base(0, 10)).Reader(bytes.NewReader([]byte("short"))))
	require.ErrorContains(t, err, "read 10 bytes of the base file at 0")
	require.Empty(t, slices.Collect(layout.Of().Range(0, 10)))
}
