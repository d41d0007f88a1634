package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/platform/auth"
)

// Limits bound what callers ask for. A zero bound is none, except of LargeBodies.
type Limits struct {
	// Rates bounds the requests of each credential, by the class of its caller; a class without one is not limited.
	Rates map[Class]Rate
	// WrongCredentials bounds the answers to wrong credentials from one address.
	WrongCredentials Rate
	// LargeBodies is how many large bodies are decoded at once, and LargeBodiesPerOwner how many of one InfraEnv, cluster or user may be
	// on their way in.
	LargeBodies, LargeBodiesPerOwner int
	// LargeBodiesRate is how many MiB a second of them are read of each owner.
	LargeBodiesRate int
	// HeavyReads is how many requests with a large answer one credential has at once. Others wait for HeavyWait. A credential that
	// many machines share has SharedReads times as many.
	HeavyReads int
	HeavyWait  time.Duration
	// HeldPolls is how many polls of one host are held, and HeldChanges how many requests for changes with one credential.
	HeldPolls, HeldChanges int
}

// SharedReads is how many times HeavyReads a token has that all hosts of an InfraEnv share.
const SharedReads = 16

// DefaultLimits returns limits that a site of 1,000 hosts behind one address does not meet: see docs/performance.md, "Limits on requests".
func DefaultLimits() Limits {
	return Limits{
		Rates: DefaultRates(), WrongCredentials: Rate{50, 1000}, LargeBodies: 1, LargeBodiesPerOwner: 32, LargeBodiesRate: 32,
		HeavyReads: 4, HeavyWait: 10 * time.Second, HeldPolls: 10, HeldChanges: 50,
	}
}

// Class groups the callers that have the same Rate: a role, or ClassImage.
type Class string

// ClassImage is whoever has the address of an image. The image service asks once for each range that firmware reads.
const ClassImage Class = "image"

// classOf returns the class of a caller.
func classOf(caller Caller) Class {
	if caller.Image {
		return ClassImage
	}
	return Class(caller.Role)
}

// DefaultRates returns several times what programs of each class ask for at most. All hosts of an InfraEnv share one token of the v2 API,
// one registrar's token, and the address of their image.
func DefaultRates() map[Class]Rate {
	return map[Class]Rate{
		Class(auth.RoleAdmin): {200, 1000}, Class(auth.RoleKube): {200, 1000}, Class(auth.RoleUser): {100, 500},
		Class(auth.RoleViewer): {100, 500}, Class(auth.RoleWatcher): {20, 100}, Class(auth.RoleAddress): {50, 300},
		Class(auth.RoleAgent): {50, 300}, Class(auth.RoleController): {50, 300}, Class(auth.RoleRegistrar): {200, 5000},
		Class(auth.RoleForeign): {2000, 10_000}, ClassImage: {5000, 20_000},
	}
}

// ParseRates reads rates of classes, such as user=100:500; classes that are left out have the default.
func ParseRates(texts []string) (map[Class]Rate, error) {
	rates := DefaultRates()
	given := map[Class]bool{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		class := Class(strings.TrimSpace(name))
		if _, known := rates[class]; !known && !given[class] {
			return nil, fmt.Errorf("require ROLE=RATE:BURST with a role of %s, found %q", classes(), text)
		}
		if given[class] {
			return nil, fmt.Errorf("require each role once, found %s twice", class)
		}
		given[class] = true
		rate, err := ParseRate(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", class, err)
		}
		if rates[class] = rate; rate.PerSecond == 0 {
			delete(rates, class)
		}
	}
	return rates, nil
}

func classes() string {
	var names []string
	for _, class := range slices.Sorted(maps.Keys(DefaultRates())) {
		names = append(names, string(class))
	}
	return strings.Join(names, ", ")
}

// Rate is how many requests are answered: a second, in the long run, and at once.
type Rate struct{ PerSecond, Burst int }

// ParseRate reads a rate such as 100:500; 0 is no limit.
func ParseRate(text string) (Rate, error) {
	text = strings.TrimSpace(text)
	if text == "0" {
		return Rate{}, nil
	}
	second, burst, _ := strings.Cut(text, ":")
	out := Rate{}
	var err [2]error
	out.PerSecond, err[0] = strconv.Atoi(second)
	out.Burst, err[1] = strconv.Atoi(burst)
	if err[0] != nil || err[1] != nil || out.PerSecond < 1 || out.Burst < out.PerSecond {
		return Rate{}, fmt.Errorf("require RATE:BURST, requests a second and at once, at least as many, such as 100:500, or 0, found %q", text)
	}
	return out, nil
}

// String returns the rate as ParseRate reads it.
func (r Rate) String() string { return fmt.Sprintf("%d:%d", r.PerSecond, r.Burst) }
