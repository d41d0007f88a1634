package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/spool"
)

const (
	// largeBody is the size from which a body counts: reports of large clusters, archives of logs have a place of their own.
	largeBody = 1 << 20
	// inMemory is how much of a body is kept in memory while it arrives; more of it is in a file.
	inMemory = 256 << 10
	// placePatience is how long a request waits for its turn.
	placePatience = 10 * time.Second
)

// places are the turns in which large bodies are decoded, 32 MiB at most each. A body takes its turn when it has arrived: one that is
// sent slowly keeps no other waiting.
type places struct {
	arriving *Bounded
	turns    chan struct{}

	mu       sync.Mutex
	decoding map[string]bool
}

func newPlaces(limits Limits) *places {
	return &places{
		arriving: NewBounded(limits.LargeBodiesPerOwner, "large requests at once"), turns: make(chan struct{}, max(1, limits.LargeBodies)),
		decoding: map[string]bool{},
	}
}

// take waits for a turn, of which an owner has one at a time; the caller gives it back.
func (p *places) take(ctx context.Context, owner string) (leave func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, placePatience, fmt.Errorf("%w: too many large requests at once", model.ErrUnavailable))
	defer cancel()
	for pause := time.Millisecond; !p.alone(owner); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	select {
	case p.turns <- struct{}{}:
		return func() { <-p.turns; p.left(owner) }, nil
	case <-ctx.Done():
		p.left(owner)
		return nil, context.Cause(ctx)
	}
}

// alone marks an owner as having a turn, unless it has one.
func (p *places) alone(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decoding[owner] {
		return false
	}
	p.decoding[owner] = true
	return true
}

func (p *places) left(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.decoding, owner)
}

// ownerOf names who a large body counts for: all hosts of an InfraEnv are one.
func ownerOf(caller Caller) string {
	for _, id := range []uuid.UUID{caller.InfraEnvID, caller.ClusterID} {
		if id != uuid.Nil {
			return id.String()
		}
	}
	return string(caller.Role) + " " + caller.Name
}

// large reports whether a request has a body that is read into memory, and may be large.
func large(r *http.Request, o *operation) bool {
	return o.limit > largeBody && o.body != nil && sendsMuch(r)
}

// sendsMuch reports whether the body of a request is large, or may be.
func sendsMuch(r *http.Request) bool { return r.ContentLength > largeBody || r.ContentLength < 0 }

// pacedReader reads no faster than its limiter allows.
type pacedReader struct {
	io.Reader
	ctx   context.Context //nolint:containedctx // of the request whose body it is
	limit *counted
}

// Read implements io.Reader.
func (p pacedReader) Read(buffer []byte) (int, error) {
	n, err := p.Reader.Read(buffer[:min(len(buffer), p.limit.Burst())])
	if waited := p.limit.WaitN(p.ctx, n); waited != nil {
		return n, errors.Join(err, waited)
	}
	return n, err //nolint:wrapcheck // of the body
}

// paced returns the body of a request, at the rate that its owner has for all its large bodies together. Whoever sends as fast as the
// network allows would take the processors from hosts, though nothing of it is accepted.
func (g *Gate) paced(r *http.Request, owner string) io.Reader {
	mib := g.o.Limits.LargeBodiesRate
	if mib == 0 {
		return r.Body
	}
	limit := Rate{PerSecond: mib << 20, Burst: 2 * mib << 20}
	return pacedReader{r.Body, r.Context(), g.rates.of("body", owner, limit)}
}

// gather waits until the body of a request has arrived, and for the turn of a large one.
func (g *Gate) gather(r *http.Request, o *operation, caller Caller) (leave func(), err error) {
	owner := ownerOf(caller)
	arrived, err := g.bodies.arriving.Enter(owner)
	if err != nil {
		return nil, err
	}
	defer arrived()
	body, err := objectOnly(g.paced(r, owner), o)
	if err != nil {
		return nil, err
	}
	whole := spool.New(inMemory)
	if _, err := io.Copy(whole, body); err != nil {
		_ = whole.Close()
		return nil, fmt.Errorf("read the body: %w", err)
	}
	turn := func() {}
	if whole.Len() > largeBody {
		if turn, err = g.bodies.take(r.Context(), owner); err != nil {
			_ = whole.Close()
			return nil, err
		}
	}
	r.Body = gathered{whole.Reader(), whole.Len()}
	return func() { turn(); _ = whole.Close() }, nil
}

// objectOnly returns the body of an operation, with its beginning. Where the operation takes an object, any other JSON is refused before
// the rest of it arrives.
func objectOnly(body io.Reader, o *operation) (io.Reader, error) {
	first := make([]byte, 512)
	n, err := io.ReadFull(body, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	first = first[:n]
	text := bytes.TrimLeft(first, " \t\r\n")
	switch {
	case len(text) == 0 || text[0] == '{' || o.body.Type == nil || !o.body.Type.Is("object"):
		return io.MultiReader(bytes.NewReader(first), body), nil
	case text[0] == '[':
		return nil, model.Invalidf("require the type object, found a list")
	}
	return nil, httpapi.Errorf(httpapi.ErrMalformed, "require a JSON object, found %q", text[:1])
}

// gathered is a body that has arrived.
type gathered struct {
	io.Reader
	size int64
}

// Close implements io.Closer.
func (gathered) Close() error { return nil }

// readBody reads the body of a request, without room for more where its size is known.
func readBody(r *http.Request) ([]byte, error) {
	if whole, ok := r.Body.(gathered); ok {
		text := make([]byte, whole.size)
		_, err := io.ReadFull(whole, text)
		return text, err //nolint:wrapcheck // by the caller
	}
	return io.ReadAll(r.Body) //nolint:wrapcheck // by the caller
}
