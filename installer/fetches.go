package installer

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// serverLogs match the logs of the bootstrap host's machine config server.
const serverLogs = "/var/log/containers/*machine-config-server*.log"

var (
	// fetchedBy matches the line that the machine config server writes before it answers
	// (openshift/machine-config-operator, pkg/server/api.go): Pool "master" requested by address:"192.0.2.7:40520"
	// User-Agent:"Ignition/2.19.0".
	fetchedBy = regexp.MustCompile(`Pool "?([^" ]+)"? requested by address:"([^"]+)"\s+User-Agent:"Ignition`)
	// asked matches such a line whoever asked.
	asked = regexp.MustCompile(`requested by address:"`)
	// refusedFor matches the line that follows when the server answers with an error, from its sentence on.
	refusedFor = regexp.MustCompile(`E\d{4} [^\]]*\] ((?:couldn't (?:get|convert|encode) config|could not find file).*)`)
	// refusedPool matches the pool in such a sentence. A pool that does not exist is not named.
	refusedPool = regexp.MustCompile(`machineConfigPool:([^ }]+)`)
	// requestDetails matches the part of a sentence that differs with each request.
	requestDetails = regexp.MustCompile(` for req: \{[^}]*\}, error`)
)

// fetch is the last request of a host for its Ignition.
type fetch struct {
	address netip.Addr
	pool    string
	// refusal is why the server answered with an error; empty: it delivered the config.
	refusal string
}

// fetches returns the last request of each address in the logs of the machine config server.
func (o *others) fetches() []fetch {
	names, err := filepath.Glob(o.Root.Path(serverLogs))
	if err != nil {
		return nil
	}
	var found []fetch
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // rotated away
				o.Log.Warn("log of the machine config server not read", "error", err)
			}
			continue
		}
		found = readFetches(found, string(content))
	}
	return found
}

// readFetches adds the requests of a log. A refusal belongs to the last request for its pool.
func readFetches(found []fetch, log string) []fetch {
	last := -1 // the request that lines without a pool belong to
	for line := range strings.Lines(log) {
		if match := fetchedBy.FindStringSubmatch(line); match != nil {
			remote, err := netip.ParseAddrPort(match[2])
			if err != nil {
				continue
			}
			request := fetch{address: remote.Addr().Unmap().WithZone(""), pool: match[1]}
			if last = slices.IndexFunc(found, func(f fetch) bool { return f.address == request.address }); last < 0 {
				found, last = append(found, fetch{}), len(found)
			}
			found[last] = request
			continue
		}
		if asked.MatchString(line) {
			last = -1 // a program other than Ignition
			continue
		}
		if match := refusedFor.FindStringSubmatch(line); match != nil && last >= 0 {
			if pool := refusedPool.FindStringSubmatch(match[1]); pool == nil || pool[1] == found[last].pool {
				found[last].refusal = strings.TrimSpace(requestDetails.ReplaceAllString(match[1], ""))
			}
		}
	}
	return found
}

// refused shows at a host that the machine config server answered its request with an error. Ignition asks again.
func (o *others) refused(ctx context.Context, host otherHost, refusal string) {
	if o.refusals[host.id] == refusal {
		return
	}
	for _, now := range o.load(ctx) {
		if now.id == host.id {
			host = now
		}
	}
	stages := steps.StagesFor(host.role, false, false)
	if slices.Index(stages, host.stage) >= slices.Index(stages, model.StageConfiguring) {
		return
	}
	o.Log.Warn("machine config server refused a host", "host", host.id, "reason", refusal)
	err := o.Client.UpdateHostProgress(ctx, host.infraEnv, host.id, wire.HostStage(host.stage),
		"The machine config server refuses this host: "+refusal)
	if err != nil {
		if ctx.Err() == nil {
			o.Log.Warn("refusal of another host not reported", "host", host.id, "error", err)
		}
		return
	}
	o.refusals[host.id] = refusal
}
