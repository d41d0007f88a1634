package attack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempt is one chain that is being tried.
type attempt struct {
	*testing.T
	*target
	steps    int      // requests and looks of the attacker
	refusals []string // of them, those that did not get what they were for
	controls int      // the same things, done by whom they are for
}

// step sends a request of the attacker that works: the chain is not stopped there.
func (a *attempt) step(c credential, r request) answer {
	a.Helper()
	a.steps++
	got := a.ask(a, c, r)
	require.Less(a, got.code, 300, "a step of the chain, %s: %s", r, got.body)
	return got
}

// refused sends a request of the attacker that has to end with one of these codes.
func (a *attempt) refused(c credential, r request, codes ...int) answer {
	a.Helper()
	got := a.ask(a, c, r)
	require.Contains(a, codes, got.code, "THE ATTACK SUCCEEDED, %s: %s", r, got.body)
	a.stopped("%d %s", got.code, r)
	return got
}

// stopped records in other words where an attacker got nothing, after it was looked at.
func (a *attempt) stopped(format string, args ...any) {
	a.steps++
	a.refusals = append(a.refusals, fmt.Sprintf(format, args...))
}

// control proves that a request does what it is for when the right one sends it.
func (a *attempt) control(c credential, r request) answer {
	a.Helper()
	a.controls++
	got := a.ask(a, c, r)
	require.Less(a, got.code, 300, "a control, %s: %s", r, got.body)
	return got
}

// line says how the chain ended.
func (a *attempt) line(name string) string {
	return fmt.Sprintf("chain %s: %d steps, %d refused, %d controls; %s", name, a.steps, len(a.refusals), a.controls,
		strings.Join(slices.Compact(slices.Clone(a.refusals)), ", "))
}

// chain is an attack of several steps.
type chain struct {
	name string
	try  func(*attempt)
}

// leastChains is how many have to be tried.
const leastChains = 14

// TestChainsOfAttacksAreRefused tries every chain on one service, with a cluster that is installed, one that is being installed and a new
// one. A chain is refused when its goal was not reached, and the same requests work for whom they are for.
func TestChainsOfAttacksAreRefused(t *testing.T) {
	w := newTarget(t)
	tried, refused := 0, 0
	for _, c := range chains {
		done, skipped := false, false
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(func() { skipped = t.Skipped() })
			a := &attempt{T: t, target: w}
			c.try(a)
			require.GreaterOrEqual(t, a.steps, 2, "a chain has several steps")
			require.NotEmpty(t, a.refusals, "nothing was refused")
			require.NotZero(t, a.controls, "nothing shows that the requests are right")
			done = true
			fmt.Println(a.line(c.name))
		})
		switch {
		case skipped:
			fmt.Println("chain " + c.name + ": not tried here")
			continue
		case done:
			refused++
		default:
			fmt.Println("chain " + c.name + ": NOT REFUSED")
		}
		tried++
	}
	fmt.Printf("chains tried %d, refused %d\n", tried, refused)
	require.GreaterOrEqual(t, tried, leastChains)
	require.Equal(t, tried, refused)
}
