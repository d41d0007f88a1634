package settings

import (
	"errors"
	"fmt"
	"time"

	"slipway/api/admission"
)

// Requests bound what callers of the API ask for.
type Requests struct {
	Rates          []string      `name:"request-rates" env:"SLIPWAY_REQUEST_RATES" help:"How many requests are answered with one credential, a second in the long run and at once, by role; image: the address of an image; 0: any number. Roles that are left out keep their default, see Limits on requests." placeholder:"ROLE=RATE:BURST"`
	WrongTokens    string        `name:"wrong-credentials" default:"50:1000" env:"SLIPWAY_WRONG_CREDENTIALS" help:"How many wrong credentials of one address are answered with 401, a second in the long run and at once; 0: any number." placeholder:"RATE:BURST"`
	LargeBodies    uint          `name:"large-bodies" default:"1" env:"SLIPWAY_LARGE_BODIES" help:"How many bodies of more than 1 MiB are decoded at once, of 32 MiB at most each; others wait 10 s."`
	BodiesPerOwner uint          `name:"large-bodies-per-owner" default:"32" env:"SLIPWAY_LARGE_BODIES_PER_OWNER" help:"How many such bodies of one InfraEnv, cluster or user may be on their way at once; 0: any number."`
	BodiesRate     uint          `name:"large-bodies-rate" default:"32" env:"SLIPWAY_LARGE_BODIES_RATE" help:"How many MiB a second of such bodies are read of one InfraEnv, cluster or user; 0: any number." placeholder:"MIB"`
	HeavyReads     uint          `name:"heavy-reads" default:"4" env:"SLIPWAY_HEAVY_READS" help:"How many requests with a large answer are answered at once with one credential; a token that the hosts of an InfraEnv share has 16 times as many; 0: any number."`
	HeavyReadsWait time.Duration `name:"heavy-reads-wait" default:"10s" env:"SLIPWAY_HEAVY_READS_WAIT" help:"How long others wait before they are refused."`
	HeldPolls      uint          `name:"held-polls" default:"10" env:"SLIPWAY_HELD_POLLS" help:"How many polls of one host are held at once; 0: any number."`
	HeldForChanges uint          `name:"held-changes" default:"50" env:"SLIPWAY_HELD_CHANGES" help:"How many requests that wait for changes are held with one credential; 0: any number."`
}

// mostRequests bounds the numbers of Requests.
const mostRequests = 1_000_000

// Limits reads the settings; the error names all that are wrong.
func (r Requests) Limits() (admission.Limits, error) {
	out := admission.Limits{
		LargeBodies: int(r.LargeBodies), LargeBodiesPerOwner: int(r.BodiesPerOwner), //nolint:gosec // below
		LargeBodiesRate: int(r.BodiesRate), HeavyReads: int(r.HeavyReads), //nolint:gosec // below
		HeavyWait: r.HeavyReadsWait, HeldPolls: int(r.HeldPolls), HeldChanges: int(r.HeldForChanges), //nolint:gosec // below
	}
	var wrong []error
	for _, n := range []struct {
		flag         string
		given, least uint
	}{
		{"--large-bodies", r.LargeBodies, 1},
		{"--large-bodies-per-owner", r.BodiesPerOwner, 0},
		{"--large-bodies-rate", r.BodiesRate, 0},
		{"--heavy-reads", r.HeavyReads, 0},
		{"--held-polls", r.HeldPolls, 0},
		{"--held-changes", r.HeldForChanges, 0},
	} {
		if n.given < n.least || n.given > mostRequests {
			wrong = append(wrong, fmt.Errorf("read %s: require a number from %d to %d, found %d", n.flag, n.least, mostRequests, n.given))
		}
	}
	var err error
	if out.Rates, err = admission.ParseRates(r.Rates); err != nil {
		wrong = append(wrong, fmt.Errorf("read --request-rates: %w", err))
	}
	if out.WrongCredentials, err = admission.ParseRate(r.WrongTokens); err != nil {
		wrong = append(wrong, fmt.Errorf("read --wrong-credentials: %w", err))
	}
	return out, errors.Join(wrong...)
}
