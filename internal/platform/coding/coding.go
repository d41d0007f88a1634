// Package coding compresses answers for clients that ask for it (RFC 9110, section 12.5.3).
package coding

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Coding is a content coding, as Content-Encoding names it.
type Coding string

// The codings, the cheapest first.
const (
	Zstd     Coding = "zstd" // RFC 8878
	Gzip     Coding = "gzip" // RFC 1952
	Identity Coding = "identity"
)

// Worthwhile is the size of an answer that is compressed, in bytes: less fits into one packet.
const Worthwhile = 1400

// Of returns the coding that a request prefers; of several, the cheapest. A request that does not say gets Identity, and so does one that
// refuses all codings.
func Of(r *http.Request) Coding {
	weights := map[string]float64{}
	for item := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		weights[strings.ToLower(strings.TrimSpace(name))] = weight(parameters)
	}
	best, most := Identity, weights[string(Identity)]
	for _, coding := range []Coding{Gzip, Zstd} {
		q, named := weights[string(coding)]
		if !named {
			q = weights["*"]
		}
		if q > 0 && q >= most {
			best, most = coding, q
		}
	}
	return best
}

// weight returns the weight among the parameters of a coding; one that cannot be read refuses it.
func weight(parameters string) float64 {
	name, value, found := strings.Cut(parameters, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || q < 0 || q > 1 {
		return 0
	}
	return q
}

// compressor is a writer of a library that can be used again.
type compressor interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// zstdWindow bounds the memory of a compressor. Hosts of a list repeat what the host before had.
const zstdWindow = 256 << 10

var compressors = map[Coding]*sync.Pool{
	Gzip: {New: func() any {
		w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return made(w, err)
	}},
	Zstd: {New: func() any {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		return made(w, err)
	}},
}

func made(w compressor, err error) compressor {
	if err != nil {
		panic(fmt.Errorf("settings of a compressor: %w", err)) // constants
	}
	return w
}

// Writer compresses what is written to it, unless its first part is short: writers pass all of a short answer at once. Close it when all
// is written, and also after an error.
type Writer struct {
	coding Coding
	to     io.Writer
	packed compressor
	begun  bool
}

// NewWriter returns a writer with a coding.
func NewWriter(to io.Writer, coding Coding) *Writer { return &Writer{coding: coding, to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	pool, can := compressors[w.coding]
	if !w.begun && can && len(p) >= Worthwhile {
		w.packed = pool.Get().(compressor) //nolint:forcetypeassert // made above
		w.packed.Reset(w.to)
	}
	w.begun = true
	if w.packed == nil {
		return w.to.Write(p)
	}
	return w.packed.Write(p)
}

// Coding returns the coding of what was written.
func (w *Writer) Coding() Coding {
	if w.packed == nil {
		return Identity
	}
	return w.coding
}

// Close writes the end. Coding stays as it was.
func (w *Writer) Close() error {
	if w.packed == nil {
		return nil
	}
	err := w.packed.Close()
	w.packed.Reset(nil) // keeps nothing of the answer
	compressors[w.coding].Put(w.packed)
	return err
}
