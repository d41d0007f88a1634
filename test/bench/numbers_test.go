package bench_test

import (
	"cmp"
	"slices"
	"time"
)

// middle returns the element with the middle value.
func middle[T any](list []T, value func(T) float64) T {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b T) int { return cmp.Compare(value(a), value(b)) })
	return sorted[len(sorted)/2]
}

// percentile returns the value that p percent of the list do not exceed.
func percentile(list []time.Duration, p int) time.Duration {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
