package imageservice

import (
	"container/list"
	"sync"
)

// lru keeps the entries used last, up to a number of entries and of bytes.
type lru[K comparable, V any] struct {
	entries, bytes int

	mu    sync.Mutex
	byKey map[K]*list.Element
	order *list.List // last used first
	size  int
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

func newLRU[K comparable, V any](entries, bytes int) *lru[K, V] {
	return &lru[K, V]{entries: entries, bytes: bytes, byKey: map[K]*list.Element{}, order: list.New()}
}

func (c *lru[K, V]) get(key K) (value V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.byKey[key]
	if !found {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// put keeps a value of about size bytes. A value above the limit of bytes is kept alone.
func (c *lru[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, found := c.byKey[key]; found {
		c.drop(old)
	}
	c.byKey[key] = c.order.PushFront(&lruEntry[K, V]{key, value, size})
	c.size += size
	for c.order.Len() > 1 && (c.order.Len() > c.entries || c.size > c.bytes) {
		c.drop(c.order.Back())
	}
}

func (c *lru[K, V]) drop(e *list.Element) {
	entry := c.order.Remove(e).(*lruEntry[K, V])
	delete(c.byKey, entry.key)
	c.size -= entry.size
}
