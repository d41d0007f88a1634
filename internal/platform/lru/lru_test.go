package lru_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/lru"
)

func TestWhatWasUsedLastIsKept(t *testing.T) {
	t.Parallel()
	kept := func(c *lru.Cache[string, int], keys ...string) (out []string) {
		for _, key := range keys {
			if _, found := c.Get(key); found {
				out = append(out, key)
			}
		}
		return out
	}
	c := lru.New[string, int](3, 100)
	for i, key := range []string{"a", "b", "c"} {
		c.Put(key, i, 10)
	}
	value, found := c.Get("a")
	require.True(t, found)
	require.Zero(t, value)
	c.Put("d", 4, 10) // b was used before all others
	require.Equal(t, []string{"a", "c", "d"}, kept(c, "a", "b", "c", "d"))

	c.Put("e", 5, 85) // with one of 10 it is below 100
	require.Equal(t, []string{"d", "e"}, kept(c, "a", "b", "c", "d", "e"))
	c.Put("e", 6, 20)
	value, _ = c.Get("e")
	require.Equal(t, 6, value)
	c.Put("f", 7, 1000) // larger than all: kept alone
	require.Equal(t, []string{"f"}, kept(c, "d", "e", "f"))
}

func TestEntriesEndAfterTheirLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := lru.NewExpiring[string, int](10, 100, time.Minute)
		c.Put("a", 1, 60)
		c.Put("b", 2, 40)
		time.Sleep(59 * time.Second)
		c.Put("a", 3, 60) // begins again
		time.Sleep(2 * time.Second)
		_, found := c.Get("b")
		require.False(t, found)
		value, found := c.Get("a")
		require.True(t, found)
		require.Equal(t, 3, value)
		c.Put("c", 4, 40) // in the room of b
		_, found = c.Get("a")
		require.True(t, found)
		time.Sleep(time.Minute + time.Second)
		for _, key := range []string{"a", "b", "c"} {
			_, found := c.Get(key)
			require.False(t, found)
		}
	})
}
