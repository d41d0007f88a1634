package store_test

import (
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// keptOfInfraEnv are the fields of an InfraEnv that no path writes from the struct.
var keptOfInfraEnv = notCarried{
	"ID":        "it identifies the row",
	"CreatedAt": "the store sets it with the new row",
	"UpdatedAt": "the store sets it each time it writes the row",
	"DeletedAt": "deletions set it",
}

func newInfraEnv(t *testing.T, s *store.Store, change func(*model.InfraEnv)) uuid.UUID {
	t.Helper()
	e := &model.InfraEnv{ID: uuid.New(), Name: "env", PullSecret: "s3cret", TokenKey: "k3y"}
	id := e.ID
	change(e)
	e.ID = id
	require.NoError(t, s.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
	return id
}

func TestEachFieldOfAnInfraEnvIsWritten(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	keptOfInfraEnv.check(t, reflect.TypeFor[model.InfraEnv]())
	for _, l := range leaves(reflect.TypeFor[model.InfraEnv]()) {
		t.Run(l.name, func(t *testing.T) {
			id := newInfraEnv(t, s, func(*model.InfraEnv) {})
			before, err := s.InfraEnv(t.Context(), id)
			require.NoError(t, err)
			var want any
			_, err = s.UpdateInfraEnv(t.Context(), id, func(e *model.InfraEnv, _ *store.Tx) error {
				want = l.change(e)
				return nil
			})
			require.NoError(t, err)
			after, err := s.InfraEnv(t.Context(), id)
			require.NoError(t, err)
			if keptOfInfraEnv[l.name] == "" {
				onlyChanged(t, before, after, l, want, keptOfInfraEnv, false)
			} else {
				require.NotEqual(t, want, l.of(after))
			}
			id = newInfraEnv(t, s, func(e *model.InfraEnv) { want = l.change(e) })
			created, err := s.InfraEnv(t.Context(), id)
			require.NoError(t, err)
			if keptOfInfraEnv[l.name] == "" {
				require.Equal(t, want, l.of(created))
			} else {
				require.NotEqual(t, want, l.of(created))
			}
		})
	}
}

// An InfraEnv is written by each update, so that one that its user looks after is not idle.
func TestEachUpdateOfAnInfraEnvMovesItsUpdatedAt(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	id := newInfraEnv(t, s, func(*model.InfraEnv) {})
	before, err := s.InfraEnv(t.Context(), id)
	require.NoError(t, err)
	_, err = s.UpdateInfraEnv(t.Context(), id, func(*model.InfraEnv, *store.Tx) error { return nil })
	require.NoError(t, err)
	after, err := s.InfraEnv(t.Context(), id)
	require.NoError(t, err)
	require.True(t, after.UpdatedAt.After(before.UpdatedAt))
	require.Equal(t, before.CreatedAt, after.CreatedAt)
}

// infraEnvReads are the paths that read an InfraEnv; its cluster is otherID.
var infraEnvReads = map[string]func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error{
	"InfraEnv": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		e, err := s.InfraEnv(t.Context(), id)
		read(e)
		return err
	},
	"InfraEnvOf": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		e, err := s.InfraEnvOf(t.Context(), &model.Host{InfraEnvID: id})
		read(e)
		return err
	},
	"InfraEnvs": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		return listed(id, read)(s.InfraEnvs(t.Context(), store.InfraEnvFilter{}))
	},
	"InfraEnvsOf": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		return listed(id, read)(s.InfraEnvsOf(t.Context(), uuid.New(), []*model.Host{{InfraEnvID: id}}))
	},
	"UpdateInfraEnv": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		_, err := s.UpdateInfraEnv(t.Context(), id, func(e *model.InfraEnv, _ *store.Tx) error {
			read(e)
			return nil
		})
		return err
	},
	"DeleteInfraEnv": func(t *testing.T, s *store.Store, id uuid.UUID, read func(*model.InfraEnv)) error {
		return s.DeleteInfraEnv(t.Context(), id, func(e *model.InfraEnv, _ *store.Tx) { read(e) })
	},
}

func listed(id uuid.UUID, read func(*model.InfraEnv)) func([]*model.InfraEnv, error) error {
	return func(all []*model.InfraEnv, err error) error {
		for _, e := range all {
			if e.ID == id {
				read(e)
			}
		}
		return err
	}
}

func TestEachFieldOfAnInfraEnvIsRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for name, read := range infraEnvReads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, l := range leaves(reflect.TypeFor[model.InfraEnv]()) {
				if l.name == "DeletedAt" {
					continue // no path reads a deleted one
				}
				var want any
				id := newInfraEnv(t, s, func(e *model.InfraEnv) { want = l.change(e) })
				switch l.name {
				case "ID":
					want = id
				case "CreatedAt", "UpdatedAt":
					require.NoError(t, s.Exec(t.Context(), `update infra_envs set created_at = '2031-02-03T04:05:06Z',
						updated_at = '2031-02-03T04:05:06Z' where id = '`+id.String()+`'`))
				}
				found := false
				require.NoError(t, read(t, s, id, func(e *model.InfraEnv) { found = true; require.Equal(t, want, l.of(e), l.name) }))
				require.True(t, found)
			}
		})
	}
}

func TestDeletedInfraEnvsOfHostsInClustersAreRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	id := newInfraEnv(t, s, func(*model.InfraEnv) {})
	require.NoError(t, s.DeleteInfraEnv(t.Context(), id, func(*model.InfraEnv, *store.Tx) {}))
	e, err := s.InfraEnvOf(t.Context(), &model.Host{InfraEnvID: id, ClusterID: &otherID})
	require.NoError(t, err)
	require.False(t, e.DeletedAt.IsZero())
	require.Equal(t, "k3y", e.TokenKey.Reveal())
}
