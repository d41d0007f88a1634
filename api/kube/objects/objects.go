// Package objects knows which object of the service each resource of Kubernetes defines, and which of them change.
package objects

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// Kinds of objects, as the service names them.
const (
	Cluster  = "cluster"
	InfraEnv = "infra-env"
	// Host is the kind of hosts of InfraEnvs that a resource defines. Their resources are Agents, named by the host's ID, in the namespace of
	// the InfraEnv.
	Host = "host"
)

const (
	// hold is how long a request for changes is held.
	hold = 30 * time.Second
	// settle is the shortest time between two requests for changes: what comes in between is one answer.
	settle = 500 * time.Millisecond
	// pause is the time until a service that does not answer is asked again.
	pause = 5 * time.Second
)

// Service is the part of the API that an Index asks.
type Service interface {
	Changes(ctx context.Context, after string, wait time.Duration, options ...client.Option) (wire.Changes, error)
	KubeObjects(ctx context.Context, options ...client.Option) ([]wire.KubeObject, error)
}

// Ref is a resource of Kubernetes by the kind of object that it defines.
type Ref struct {
	Kind string
	Key  types.NamespacedName
}

// Index knows which object each resource defines. It follows the feed of changes: nothing is listed again while it does. It is safe for
// concurrent use.
type Index struct {
	service Service
	log     *slog.Logger
	now     func() time.Time

	mu      sync.Mutex
	ids     map[Ref]uuid.UUID
	refs    map[uuid.UUID]Ref
	users   map[uuid.UUID]bool      // objects that no resource defines: none does later
	hosts   map[uuid.UUID]uuid.UUID // InfraEnvs of hosts
	loading int                     // calls of Load that wait for their list
	during  []set                   // while there are any: the list may be older
	missed  []func()
	loaded  chan struct{} // closed once the objects are known
	watch   map[string][]func(types.NamespacedName)

	followedAt atomic.Int64 // in nanoseconds; 0: never
}

// set is a call of Set.
type set struct {
	ref Ref
	id  uuid.UUID
}

// New returns an Index that knows nothing before Run.
func New(service Service, log *slog.Logger, now func() time.Time) *Index {
	return &Index{
		service: service, log: log, now: now, ids: map[Ref]uuid.UUID{}, refs: map[uuid.UUID]Ref{}, users: map[uuid.UUID]bool{},
		hosts: map[uuid.UUID]uuid.UUID{}, loaded: make(chan struct{}), watch: map[string][]func(types.NamespacedName){},
	}
}

// FollowedAt returns when the service last answered what has changed; zero: never.
func (x *Index) FollowedAt() time.Time {
	at := x.followedAt.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at)
}

// Watch calls fn with each resource whose object changes, and with all of a kind when changes may have been missed. Changes of before are
// not reported. fn must not block.
func (x *Index) Watch(kind string, fn func(types.NamespacedName)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watch[kind] = append(x.watch[kind], fn)
}

// WatchMissed calls fn when changes may have been missed. fn must not block.
func (x *Index) WatchMissed(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.missed = append(x.missed, fn)
}

// InfraEnvs returns the InfraEnvs that resources define, by their keys.
func (x *Index) InfraEnvs() map[types.NamespacedName]uuid.UUID {
	x.mu.Lock()
	defer x.mu.Unlock()
	found := map[types.NamespacedName]uuid.UUID{}
	for ref, id := range x.ids {
		if ref.Kind == InfraEnv {
			found[ref.Key] = id
		}
	}
	return found
}

// SetHost says which InfraEnv a host is in.
func (x *Index) SetHost(host, infraEnv uuid.UUID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hosts[host] = infraEnv
}

// InfraEnvOf returns the resource of the InfraEnv that a host is in, and its object; false: the host is not known, or no resource defines
// its InfraEnv.
func (x *Index) InfraEnvOf(host uuid.UUID) (types.NamespacedName, uuid.UUID, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	id, known := x.hosts[host]
	ref, defined := x.refs[id]
	return ref.Key, id, known && defined
}

// ID returns the object that a resource defines; false: none. It waits until the objects are known, or ctx ends.
func (x *Index) ID(ctx context.Context, kind string, key types.NamespacedName) (uuid.UUID, bool, error) {
	select {
	case <-ctx.Done():
		return uuid.Nil, false, ctx.Err()
	case <-x.loaded:
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	id, known := x.ids[Ref{kind, key}]
	return id, known, nil
}

// Resource returns the resource that defines an object; false: none is known.
func (x *Index) Resource(id uuid.UUID) (types.NamespacedName, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ref, known := x.refs[id]
	return ref.Key, known
}

// Set says which object a resource defines from now on; the zero id: none.
func (x *Index) Set(kind string, key types.NamespacedName, id uuid.UUID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := set{Ref{kind, key}, id}
	if x.loading > 0 {
		x.during = append(x.during, now)
	}
	x.put(now)
}

func (x *Index) put(now set) {
	delete(x.refs, x.ids[now.ref])
	delete(x.ids, now.ref)
	if now.id != uuid.Nil {
		x.ids[now.ref], x.refs[now.id] = now.id, now.ref
	}
}

// Run follows the service until ctx ends.
func (x *Index) Run(ctx context.Context) error {
	cursor := ""
	for ctx.Err() == nil {
		next, err := x.follow(ctx, cursor)
		cursor = next
		wait := settle
		if err != nil && ctx.Err() == nil {
			x.log.WarnContext(ctx, "changes of the service are not known", "error", err)
			wait = pause
		}
		_ = hostexec.Sleep(ctx, wait)
	}
	return nil
}

// follow waits for changes after a cursor and returns the next one. Without a cursor, or with one that the service has forgotten, it reads
// all objects: the feed is asked for its end before, so that no change between the two is lost.
func (x *Index) follow(ctx context.Context, cursor string) (string, error) {
	found, err := x.service.Changes(ctx, cursor, hold)
	if err == nil {
		x.followedAt.Store(x.now().UnixNano())
	}
	switch {
	case errors.Is(err, model.ErrGone):
		return "", nil
	case err != nil:
		return cursor, err
	case cursor == "":
		if err := x.Load(ctx); err != nil {
			return "", err
		}
		x.notifyAll()
		return found.Cursor, nil
	}
	if x.unknown(found.Changes) {
		if err := x.Load(ctx); err != nil {
			return cursor, err
		}
		x.noteUsers(found.Changes)
	}
	x.notify(found.Changes)
	return found.Cursor, nil
}

// unknown reports whether there are objects, not deleted, that may be a resource's.
func (x *Index) unknown(changes []wire.Change) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range changes {
		if _, known := x.refs[c.ID]; !known && !x.users[c.ID] && !c.Deleted && c.Kind != Host && len(x.watch[c.Kind]) > 0 {
			return true
		}
	}
	return false
}

// noteUsers remembers objects that no resource defines: their changes ask for no list again.
func (x *Index) noteUsers(changes []wire.Change) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range changes {
		if _, known := x.refs[c.ID]; !known && !c.Deleted && c.Kind != Host {
			x.users[c.ID] = true
		} else {
			delete(x.users, c.ID)
		}
	}
}

// Load reads which objects resources define. What is set while it waits is newer.
func (x *Index) Load(ctx context.Context) error {
	x.mu.Lock()
	x.loading++
	x.mu.Unlock()
	list, err := x.service.KubeObjects(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	during := x.during
	if x.loading--; x.loading == 0 {
		x.during = nil
	}
	if err != nil {
		return err
	}
	clear(x.ids)
	clear(x.refs)
	for _, o := range list {
		ref := Ref{o.Kind, types.NamespacedName{Namespace: o.Namespace, Name: o.Name}}
		x.ids[ref], x.refs[o.ID] = o.ID, ref
	}
	for _, now := range during {
		x.put(now)
	}
	select {
	case <-x.loaded:
	default:
		close(x.loaded)
	}
	return nil
}

func (x *Index) notify(changes []wire.Change) {
	for _, c := range changes {
		if ref, known := x.refOf(c); known {
			x.wake(ref)
		}
	}
}

// refOf returns the resource of a changed object. An object that is gone still has one.
func (x *Index) refOf(c wire.Change) (Ref, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.Kind != Host {
		ref, known := x.refs[c.ID]
		return ref, known
	}
	if c.InfraEnvID == nil {
		return Ref{}, false
	}
	env, known := x.refs[*c.InfraEnvID]
	if c.Deleted || !known {
		delete(x.hosts, c.ID)
	} else {
		x.hosts[c.ID] = *c.InfraEnvID
	}
	return Ref{Host, types.NamespacedName{Namespace: env.Key.Namespace, Name: c.ID.String()}}, known
}

func (x *Index) notifyAll() {
	x.mu.Lock()
	refs := make([]Ref, 0, len(x.ids))
	for ref := range x.ids {
		refs = append(refs, ref)
	}
	missed := x.missed
	x.mu.Unlock()
	for _, ref := range refs {
		x.wake(ref)
	}
	for _, fn := range missed {
		fn()
	}
}

func (x *Index) wake(ref Ref) {
	x.mu.Lock()
	watchers := x.watch[ref.Kind]
	x.mu.Unlock()
	for _, fn := range watchers {
		fn(ref.Key)
	}
}
