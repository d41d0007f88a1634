package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"slipway/internal/model"
)

func TestNamesOfAnIssuerBelongToWhoCameFirst(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	name := func(issuer, subject, name string) string {
		t.Helper()
		found, err := s.IssuerUserName(t.Context(), issuer, subject, name)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, "oidc:ann", name("https://sso", "1", "oidc:ann"))
	require.Equal(t, "oidc:ann", name("https://sso", "1", "oidc:ann"))
	require.Equal(t, "oidc:ann", name("https://sso", "1", "oidc:anna"), "renamed at the issuer")
	require.Equal(t, "oidc:bob", name("https://sso", "2", "oidc:bob"))
	require.Equal(t, "oidc:bob", name("https://sso", "2", "oidc:ann"), "a name that is taken is of no use to who has one")
	for _, issuer := range []string{"https://sso", "https://other"} {
		_, err := s.IssuerUserName(t.Context(), issuer, "3", "oidc:ann")
		require.ErrorIs(t, err, model.ErrConflict)
		require.ErrorContains(t, err, "the name oidc:ann belongs to another user")
	}

	users, err := s.IssuerUsers(t.Context())
	require.NoError(t, err)
	require.Len(t, users, 2)
	require.WithinDuration(t, time.Now(), users[0].CreatedAt, time.Minute)
	users[0].CreatedAt = time.Time{}
	require.Equal(t, model.IssuerUser{Name: "oidc:ann", Issuer: "https://sso", Subject: "1"}, users[0])

	token := model.UserToken{ID: uuid.New(), UserName: "oidc:ann", Role: "user", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	require.NoError(t, s.CreateToken(t.Context(), token))
	require.NoError(t, s.ForgetIssuerUser(t.Context(), "oidc:ann"))
	_, err = s.UseToken(t.Context(), token.ID)
	require.ErrorIs(t, err, model.ErrNotFound, "a token of who had the name")
	require.ErrorIs(t, s.ForgetIssuerUser(t.Context(), "oidc:ann"), model.ErrNotFound)
	require.Equal(t, "oidc:ann", name("https://sso", "3", "oidc:ann"))
	_, err = s.IssuerUserName(t.Context(), "https://sso", "1", "oidc:ann")
	require.ErrorIs(t, err, model.ErrConflict)
}

func TestTwoWhoComeAtOnceWithANameDoNotShareIt(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var got, refused atomic.Int32
	var all errgroup.Group
	for n := range 16 {
		all.Go(func() error {
			switch _, err := s.IssuerUserName(t.Context(), "https://sso", string(rune('a'+n)), "oidc:ann"); {
			case err == nil:
				got.Add(1)
			case errors.Is(err, model.ErrConflict):
				refused.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
	require.EqualValues(t, 1, got.Load())
	require.EqualValues(t, 15, refused.Load())
}
