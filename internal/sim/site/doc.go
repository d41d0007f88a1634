// Package site is what simulated machines of one place share: the network they answer
// on, its names, and where the API of their cluster is. All of it is files in one
// folder, written atomically, so that machines may be goroutines of one process or
// processes that are killed and started again.
package site
