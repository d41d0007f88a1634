package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"sync"

	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// network is the machine's way out: the cable to its site and to the service. It writes
// to the machine's log which steps came in and which results the service took.
type network struct {
	*Machine
	mu   sync.Mutex
	seen map[string]bool // step ids that are in the log
	// cable ends when it is pulled; pull does that.
	cable context.Context
	pull  context.CancelFunc
}

var errNoCarrier = errors.New("network is unreachable: no carrier")

func newNetwork(m *Machine) *network {
	n := &network{Machine: m, seen: map[string]bool{}}
	n.cable, n.pull = context.WithCancel(context.Background())
	return n
}

// plug lets the machine answer on the network of its site.
func (n *network) plug() error {
	if n.cut() {
		return nil
	}
	return n.options.Site.Attach(n.addresses()...)
}

func (n *network) unplug() error { return n.options.Site.Detach(n.addresses()...) }

// cut reports whether the cable is pulled now.
func (m *Machine) cut() bool { return m.options.Now().Before(m.State().CutUntil) }

// RoundTrip implements http.RoundTripper for the agent's client.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.cut() {
		return nil, errNoCarrier
	}
	if response := n.spoil(r); response != nil {
		return response, nil
	}
	n.mu.Lock()
	cable := n.cable
	n.mu.Unlock()
	ctx, cancel := context.WithCancelCause(r.Context())
	free := context.AfterFunc(cable, func() { cancel(errNoCarrier) })
	release := func() { free(); cancel(nil) }

	sent := r.Clone(ctx)
	posted := postedReply(sent)
	response, err := n.options.Transport.RoundTrip(sent)
	if err != nil {
		release()
		return nil, err
	}
	response.Body = &watchedBody{response.Body, release}
	switch {
	case posted != nil && response.StatusCode == http.StatusNoContent:
		n.note(Entry{
			Event: EventStepReplied, StepType: string(posted.StepType), StepID: posted.StepID, ExitCode: posted.ExitCode,
			Detail: posted.Error,
		})
	case isInstructions(r, http.MethodGet) && response.StatusCode == http.StatusOK:
		err = n.received(response)
	}
	return response, err
}

// watchedBody lets go of what watches over an answer once it was read.
type watchedBody struct {
	io.ReadCloser
	release func()
}

func (b *watchedBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

func isInstructions(r *http.Request, method string) bool {
	return r.Method == method && path.Base(r.URL.Path) == "instructions"
}

// postedReply returns the result of a step on its way to the service; nil for other requests.
func postedReply(r *http.Request) *wire.StepReply {
	if !isInstructions(r, http.MethodPost) || r.Body == nil {
		return nil
	}
	content, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(content))
	var reply wire.StepReply
	if err != nil || json.Unmarshal(content, &reply) != nil {
		return nil
	}
	return &reply
}

// received logs the steps of an answer and pulls the cable when one of them is the
// moment for that.
func (n *network) received(response *http.Response) error {
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	var steps wire.Steps
	_ = json.Unmarshal(content, &steps) // what the agent makes of a broken answer is its own business
	for _, step := range steps.Instructions {
		if n.known(step.StepID) {
			continue
		}
		n.note(Entry{Event: EventStepReceived, StepType: string(step.StepType), StepID: step.StepID})
		faults := n.options.Faults
		if string(step.StepType) == faults.CutAt && faults.Cut > 0 && !n.State().CutDone {
			n.cutCable()
		}
	}
	return nil
}

func (n *network) known(stepID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.seen[stepID]
	n.seen[stepID] = true
	return known
}

// cutCable takes the machine off the network for as long as was asked for.
func (n *network) cutCable() {
	until := n.options.Now().Add(n.options.Faults.Cut)
	if err := n.memory.update(func(s *State) { s.CutUntil, s.CutDone = until, true }); err != nil {
		n.log.Error("fault not kept", "error", err)
		return
	}
	n.note(Entry{Event: EventDisconnected, Detail: n.options.Faults.Cut.String()})
	if err := n.unplug(); err != nil {
		n.log.Error("cable not pulled", "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pull()
	n.cable, n.pull = context.WithCancel(context.Background())
}

// restore plugs the cable in again when its time has come, until ctx ends.
func (n *network) restore(ctx context.Context) {
	for ctx.Err() == nil {
		state, changed := n.memory.get()
		if !n.due(ctx, state.CutUntil, changed) {
			continue
		}
		if err := n.plug(); err != nil {
			n.log.Error("cable not plugged in", "error", err)
		}
		n.note(Entry{Event: EventConnected})
		n.rest(ctx, changed)
	}
}

// spoil returns the answer of a broken proxy when the download of the host's Ignition is to fail; nil otherwise.
func (n *network) spoil(r *http.Request) *http.Response {
	if path.Base(r.URL.Path) != "ignition" || !n.fails(string(steps.IgnitionFetch)) {
		return nil
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader([]byte(`{"reason":"the proxy does not let this pass"}`))),
	}
}
