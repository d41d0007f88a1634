// Package usertoken gives tests tokens of users that a service would keep in its database.
package usertoken

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// Book holds the valid tokens. Its Find is an auth.LocalOptions.User.
type Book struct {
	mu     sync.Mutex
	tokens map[uuid.UUID]model.UserToken
}

// Find returns what a token may do.
func (b *Book) Find(_ context.Context, id uuid.UUID) (model.UserToken, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	token, known := b.tokens[id]
	if !known {
		return token, model.NotFoundf("token %s was not found", id)
	}
	return token, nil
}

// Sign makes a token of a user until expires.
func (b *Book) Sign(t *testing.T, by *auth.Local, name string, role auth.Role, expires time.Time) string {
	t.Helper()
	token := model.UserToken{ID: uuid.New(), UserName: name, Role: string(role), ExpiresAt: expires}
	b.mu.Lock()
	if b.tokens == nil {
		b.tokens = map[uuid.UUID]model.UserToken{}
	}
	b.tokens[token.ID] = token
	b.mu.Unlock()
	signed, err := by.UserToken(token)
	require.NoError(t, err)
	return signed.Reveal()
}

// Change changes all tokens, as a user of the database does.
func (b *Book) Change(fn func(*model.UserToken)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, token := range b.tokens {
		fn(&token)
		b.tokens[id] = token
	}
}

// Revoke ends all tokens.
func (b *Book) Revoke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.tokens)
}
