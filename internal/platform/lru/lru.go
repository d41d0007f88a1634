// Package lru keeps the values that were used last.
package lru

import (
	"container/list"
	"sync"
	"time"
)

// Cache keeps the entries used last, up to a number of entries and of bytes. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	entries, bytes int
	life           time.Duration // zero: no end

	mu    sync.Mutex
	byKey map[K]*list.Element
	order *list.List // last used first
	size  int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
	end   *time.Timer // nil: none
}

// New returns an empty cache.
func New[K comparable, V any](entries, bytes int) *Cache[K, V] {
	return &Cache[K, V]{entries: entries, bytes: bytes, byKey: map[K]*list.Element{}, order: list.New()}
}

// NewExpiring returns an empty cache whose entries end a time after they were put.
func NewExpiring[K comparable, V any](entries, bytes int, life time.Duration) *Cache[K, V] {
	c := New[K, V](entries, bytes)
	c.life = life
	return c
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
	e := c.order.PushFront(&entry[K, V]{key: key, value: value, size: size})
	if c.life > 0 {
		e.Value.(*entry[K, V]).end = time.AfterFunc(c.life, func() { c.expire(key, e) })
	}
	c.byKey[key] = e
	c.size += size
	for c.order.Len() > 1 && (c.order.Len() > c.entries || c.size > c.bytes) {
		c.drop(c.order.Back())
	}
}

// expire drops an entry, if it is still there.
func (c *Cache[K, V]) expire(key K, e *list.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] == e {
		c.drop(e)
	}
}

func (c *Cache[K, V]) drop(e *list.Element) {
	removed := c.order.Remove(e).(*entry[K, V])
	if removed.end != nil {
		removed.end.Stop()
	}
	delete(c.byKey, removed.key)
	c.size -= removed.size
}
