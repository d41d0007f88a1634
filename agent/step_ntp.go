package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/run"
	"slipway/internal/wire"
)

// ntpStates are the marks chronyc puts on its sources.
var ntpStates = map[byte]wire.SourceState{
	'*': wire.SourceStateSynced, '+': wire.SourceStateCombined, '-': wire.SourceStateNotCombined,
	'?': wire.SourceStateUnreachable, 'x': wire.SourceStateError, '~': wire.SourceStateVariable,
}

// ntpSynchronizer gives the clock the sources it does not have yet and tells the state
// of all.
func (a *Agent) ntpSynchronizer(ctx context.Context, req *wire.NtpSynchronizationRequest) (wire.NtpSynchronizationResponse, error) {
	var response wire.NtpSynchronizationResponse
	known, err := a.ntpSources(ctx)
	if err != nil {
		return response, err
	}
	added := false
	for wanted := range strings.FieldsFuncSeq(req.NtpSource, func(r rune) bool { return r == ',' || r == ' ' }) {
		if a.knowsNTP(ctx, known, wanted) {
			continue
		}
		if _, err := a.chronyc(ctx, "add", "server", wanted, "iburst"); err != nil {
			a.log.Warn("time source not added", "source", wanted, "error", err)
			continue
		}
		added = true
	}
	if added {
		if known, err = a.ntpSources(ctx); err != nil {
			return response, err
		}
	}
	for n := range known {
		if names, err := a.host.Resolver.LookupAddr(ctx, known[n].SourceName); err == nil && len(names) > 0 {
			known[n].SourceName = strings.TrimSuffix(names[0], ".")
		}
	}
	response.NtpSources = known
	return response, nil
}

// ntpSources reads the table of chronyc: "^* 192.0.2.1  2  6  377  34  +15us[...]".
func (a *Agent) ntpSources(ctx context.Context) ([]wire.NtpSource, error) {
	output, err := a.chronyc(ctx, "-n", "sources")
	if err != nil {
		return nil, fmt.Errorf("list the time sources: %w", err)
	}
	sources := []wire.NtpSource{}
	for line := range strings.Lines(output) {
		if len(line) < 2 || !strings.ContainsRune("^=#", rune(line[0])) {
			continue
		}
		fields := strings.Fields(line[2:])
		if len(fields) < 2 {
			continue // the rule below the heading
		}
		state, marked := ntpStates[line[1]]
		if !marked {
			state = wire.SourceStateUnreachable // a space: just added
		}
		sources = append(sources, wire.NtpSource{SourceName: fields[0], SourceState: state})
	}
	return sources, nil
}

// knowsNTP reports whether a source is known by name or by one of its addresses.
func (a *Agent) knowsNTP(ctx context.Context, known []wire.NtpSource, wanted string) bool {
	names := []string{wanted}
	if addresses, err := a.host.Resolver.LookupNetIP(ctx, "ip", wanted); err == nil {
		for _, address := range addresses {
			names = append(names, address.Unmap().String())
		}
	}
	return slices.ContainsFunc(known, func(s wire.NtpSource) bool { return slices.Contains(names, s.SourceName) })
}

func (a *Agent) chronyc(ctx context.Context, args ...string) (string, error) {
	result, err := a.host.Runner.Run(ctx, run.Cmd{Name: "chronyc", Args: args})
	return result.Stdout, err
}
