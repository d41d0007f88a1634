// Package matrix counts the cells of tests that ask everything of everybody: each cell is a request, and either expected or not.
package matrix

import (
	"fmt"
	"sync"
	"testing"
)

// shownCells is how many unexpected cells a failure prints.
const shownCells = 20

// Cells counts cells. It is safe for concurrent use.
type Cells struct {
	mu            sync.Mutex
	tried, denied int
	unexpected    []string
}

// Denied counts a cell that has to be refused; text says which, and what was found, if it was not.
func (c *Cells) Denied(refused bool, text string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if refused {
		c.denied++
	}
	c.count(refused, text, values)
}

// Opened counts a cell that must not be refused.
func (c *Cells) Opened(opened bool, text string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(opened, text, values)
}

func (c *Cells) count(expected bool, text string, values []any) {
	c.tried++
	if !expected {
		c.unexpected = append(c.unexpected, fmt.Sprintf(text, values...))
	}
}

// Report prints the counts, and fails the test when a cell was unexpected, or fewer cells were tried than there have to be at least.
func (c *Cells) Report(t testing.TB, least int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("cells tried %d, denied %d, unexpected %d", c.tried, c.denied, len(c.unexpected))
	for n, text := range c.unexpected {
		if n == shownCells {
			t.Errorf("and %d more", len(c.unexpected)-n)
			break
		}
		t.Errorf("unexpected: %s", text)
	}
	if c.tried < least {
		t.Errorf("require at least %d cells, found %d", least, c.tried)
	}
}
