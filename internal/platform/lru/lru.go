// Package lru keeps the values that were used last.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps the entries used last, up to a number of entries and of bytes. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	entries, bytes int

	mu    sync.Mutex
	byKey map[K]*list.Element
	order *list.List // last used first
	size  int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// New returns an empty cache.
func New[K comparable, V any](entries, bytes int) *Cache[K, V] {
	return &Cache[K, V]{entries: entries, bytes: bytes, byKey: map[K]*list.Element{}, order: list.New()}
}

// Get returns the value of a key, which is then the one used last.
func (c *Cache[K, V]) Get(key K) (value V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.byKey[key]
	if !found {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put keeps a value of about size bytes. A value above the limit of bytes is kept alone.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, found := c.byKey[key]; found {
		c.drop(old)
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, size})
	c.size += size
	for c.order.Len() > 1 && (c.order.Len() > c.entries || c.size > c.bytes) {
		c.drop(c.order.Back())
	}
}

func (c *Cache[K, V]) drop(e *list.Element) {
	removed := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, removed.key)
	c.size -= removed.size
}
