//go:build !race

package unraced

const detector = false
