// Package bench holds the benchmarks of the whole service: the built program with its
// own PostgreSQL, asked over HTTP. They print costs per unit and ratios within one run,
// see docs/performance.md.
package bench
