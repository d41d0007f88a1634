package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// ntpStates are the marks chronyc puts on its sources.
var ntpStates = map[byte]wire.SourceState{
	'*': wire.SourceStateSynced, '+': wire.SourceStateCombined, '-': wire.SourceStateNotCombined,
	'?': wire.SourceStateUnreachable, 'x': wire.SourceStateError, '~': wire.SourceStateVariable,
}

const (
	// ntpLooks is how often the clock is looked at until it follows a source: a daemon that
	// just started or got a source needs seconds, and the service asks again after minutes.
	ntpLooks = 8
	ntpPause = 2 * time.Second
)

// ntpSynchronizer gives the clock the sources it does not have yet and reports the state
// of all.
func (a *Agent) ntpSynchronizer(ctx context.Context, req *wire.NtpSynchronizationRequest) (wire.NtpSynchronizationResponse, error) {
	var response wire.NtpSynchronizationResponse
	known, err := a.ntpSources(ctx)
	for given, look := false, 1; ; look++ {
		if err == nil && !given && a.addNTP(ctx, known, req.NtpSource) {
			known, err = a.ntpSources(ctx)
		}
		given = given || err == nil
		if settled(known, err) || look == ntpLooks {
			break
		}
		if err := a.host.Sleep(ctx, ntpPause); err != nil {
			return response, err
		}
		known, err = a.ntpSources(ctx)
	}
	if err != nil {
		return response, err
	}
	a.nameNTP(ctx, known)
	response.NtpSources = known
	return response, nil
}

// nameNTP puts the names of the sources in place of their addresses, where they have one.
func (a *Agent) nameNTP(ctx context.Context, known []wire.NtpSource) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	var lookups sync.WaitGroup
	for n := range known {
		lookups.Go(func() {
			if names, err := a.host.Resolver.LookupAddr(ctx, known[n].SourceName); err == nil && len(names) > 0 {
				known[n].SourceName = strings.TrimSuffix(names[0], ".")
			}
		})
	}
	lookups.Wait()
}

// settled reports whether it is no use to look again: the clock follows a source, has
// none to follow, or cannot be asked at all.
func settled(known []wire.NtpSource, err error) bool {
	if err != nil {
		return hostexec.Missing(err)
	}
	return len(known) == 0 || slices.ContainsFunc(known, func(s wire.NtpSource) bool { return s.SourceState == wire.SourceStateSynced })
}

// addNTP gives the clock the sources of a list that it does not know yet, and reports
// whether it took one.
func (a *Agent) addNTP(ctx context.Context, known []wire.NtpSource, list string) (added bool) {
	wanted := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	names := a.namesOf(ctx, wanted)
	for n, wanted := range wanted {
		if slices.ContainsFunc(known, func(s wire.NtpSource) bool { return slices.Contains(names[n], s.SourceName) }) {
			continue
		}
		if _, err := a.chronyc(ctx, "add", "server", wanted, "iburst"); err != nil {
			a.log.Warn("time source not added", "source", wanted, "error", err)
			continue
		}
		added = true
	}
	if added {
		a.stepClock(ctx)
	}
	return added
}

// stepClock lets the clock jump to the time of the sources that were added: the default configuration allows that
// for the first updates only, and an hour would take days to be corrected slowly.
func (a *Agent) stepClock(ctx context.Context) {
	if _, err := a.chronyc(ctx, "makestep", "1.0", "-1"); err != nil {
		a.log.Warn("the clock only follows its new sources slowly", "error", err)
	}
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

// namesOf lists what the clock may call each source: its name or one of its addresses.
func (a *Agent) namesOf(ctx context.Context, sources []string) [][]string {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	all := make([][]string, len(sources))
	var lookups sync.WaitGroup
	for n, source := range sources {
		lookups.Go(func() {
			all[n] = []string{source}
			addresses, err := a.host.Resolver.LookupNetIP(ctx, "ip", source)
			if err != nil {
				a.log.Debug("time source not resolved", "source", source, "error", err)
			}
			for _, address := range addresses {
				all[n] = append(all[n], address.Unmap().String())
			}
		})
	}
	lookups.Wait()
	return all
}

func (a *Agent) chronyc(ctx context.Context, args ...string) (string, error) {
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "chronyc", Args: args})
	return result.Stdout, err
}
