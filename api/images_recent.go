package api

import (
	"container/list"
	"sync"
)

// recent keeps what was used last, of a number of entries and of bytes at most.
type recent[K comparable, V any] struct {
	entries, bytes int

	mu    sync.Mutex
	byKey map[K]*list.Element
	order *list.List // last used first
	size  int
}

type recentEntry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

func newRecent[K comparable, V any](entries, bytes int) *recent[K, V] {
	return &recent[K, V]{entries: entries, bytes: bytes, byKey: map[K]*list.Element{}, order: list.New()}
}

func (c *recent[K, V]) get(key K) (value V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.byKey[key]
	if !found {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*recentEntry[K, V]).value, true
}

// put keeps a value of about so many bytes. One that is larger than all there may be is
// kept alone.
func (c *recent[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, found := c.byKey[key]; found {
		c.drop(old)
	}
	c.byKey[key] = c.order.PushFront(&recentEntry[K, V]{key, value, size})
	c.size += size
	for c.order.Len() > 1 && (c.order.Len() > c.entries || c.size > c.bytes) {
		c.drop(c.order.Back())
	}
}

func (c *recent[K, V]) drop(e *list.Element) {
	entry := c.order.Remove(e).(*recentEntry[K, V])
	delete(c.byKey, entry.key)
	c.size -= entry.size
}
