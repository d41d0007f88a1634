package validation

import (
	"cmp"
	"math/bits"
	"slices"
)

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitset) intersect(other bitset) {
	for i := range b {
		b[i] &= other[i]
	}
}

// containsAll reports whether all numbers but one are in the set.
func (b bitset) containsAll(numbers []int, but int) bool {
	for _, n := range numbers {
		if n != but && !b.has(n) {
			return false
		}
	}
	return true
}

// graph holds who reaches whom, in both directions apart.
type graph struct {
	out []bitset // out[a] has b when a reaches b
	in  []bitset
}

func newGraph(n int) *graph {
	g := &graph{out: make([]bitset, n), in: make([]bitset, n)}
	for i := range n {
		g.out[i], g.in[i] = newBitset(n), newBitset(n)
	}
	return g
}

func (g *graph) reaches(from, to int) {
	g.out[from].set(to)
	g.in[to].set(from)
}

// largestGroup returns the members of a large group of hosts that all reach each other in both directions, in ascending order; a single
// host is not a group. The largest group is hard to find in general; growing a group from every host, best connected first, finds it
// for networks that consist of islands or miss a few links.
func (g *graph) largestGroup() []int {
	n := len(g.out)
	degree := make([]int, n)
	for i := range n {
		g.out[i].intersect(g.in[i]) // out holds mutual links from here on
		degree[i] = g.out[i].count()
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(degree[b], degree[a]) })

	var best []int
	for _, seed := range order {
		if degree[seed] < len(best) {
			break // no later host has enough neighbours for a larger group
		}
		if degree[seed] == 0 {
			break
		}
		if group := g.grow(seed, order); len(group) > len(best) {
			best = group
		}
	}
	slices.Sort(best)
	return best
}

// grow adds hosts to a seed as long as they reach all members.
func (g *graph) grow(seed int, order []int) []int {
	candidates := slices.Clone(g.out[seed])
	group := []int{seed}
	for _, next := range order {
		if !candidates.has(next) {
			continue
		}
		group = append(group, next)
		candidates.intersect(g.out[next])
	}
	return group
}
