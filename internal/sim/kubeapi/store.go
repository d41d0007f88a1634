package kubeapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// object is one stored object. A stored object is never changed, only replaced.
type object = *unstructured.Unstructured

type ref struct {
	res             *resource
	namespace, name string
}

// change is one entry of the history watches read and the journal keeps.
type change struct {
	Type    watch.EventType `json:"type"`
	Object  object          `json:"object"`
	version uint64
	res     *resource
}

// historyLength bounds what a watch may fall behind before it must list again.
const historyLength = 4096

// store holds the objects, their history and the journal.
type store struct {
	mu      sync.Mutex
	now     func() time.Time
	objects map[ref]object
	version uint64
	history []change
	changed chan struct{} // closed and replaced at every change
	journal *journal
}

func openStore(path string, now func() time.Time) (*store, error) {
	s := &store{now: now, objects: map[ref]object{}, changed: make(chan struct{})}
	if path == "" {
		return s, nil
	}
	if err := s.load(path); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.close()
}

func (s *store) get(at ref) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, ok := s.objects[at]
	if !ok {
		return nil, apierrors.NewNotFound(at.res.groupResource(), at.name)
	}
	return obj, nil
}

// list gives the objects of a resource, by namespace and name, and the version they
// are of. An empty namespace means all.
func (s *store) list(res *resource, namespace string) ([]object, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []object
	for at, obj := range s.objects {
		if at.res == res && (namespace == "" || at.namespace == namespace) {
			found = append(found, obj)
		}
	}
	slices.SortFunc(found, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found, s.version
}

// create stores a new object; obj becomes the store's.
func (s *store) create(at ref, obj object) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[at]; ok {
		return nil, apierrors.NewAlreadyExists(at.res.groupResource(), at.name)
	}
	obj.SetGroupVersionKind(at.res.GroupVersionKind)
	obj.SetNamespace(at.namespace)
	obj.SetName(at.name)
	obj.SetUID(types.UID(uuid.NewString()))
	obj.SetCreationTimestamp(metav1.NewTime(s.now().UTC()))
	return s.put(watch.Added, at, obj)
}

// update replaces an object by what change makes of it. change gets the stored object
// and returns another one, with the resource version the caller holds or none.
func (s *store) update(at ref, change func(current object) (object, error)) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current, ok := s.objects[at]
	if !ok {
		return nil, apierrors.NewNotFound(at.res.groupResource(), at.name)
	}
	next, err := change(current)
	if err != nil {
		return nil, err
	}
	if v := next.GetResourceVersion(); v != "" && v != current.GetResourceVersion() {
		return nil, apierrors.NewConflict(at.res.groupResource(), at.name,
			errModified{held: v, found: current.GetResourceVersion()})
	}
	next.SetGroupVersionKind(at.res.GroupVersionKind)
	next.SetNamespace(at.namespace)
	next.SetName(at.name)
	next.SetUID(current.GetUID())
	next.SetCreationTimestamp(current.GetCreationTimestamp())
	return s.put(watch.Modified, at, next)
}

type errModified struct{ held, found string }

func (e errModified) Error() string {
	return "require the latest resource version " + e.found + ", found " + e.held
}

func (s *store) delete(at ref, only metav1.Preconditions) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current, ok := s.objects[at]
	if !ok {
		return nil, apierrors.NewNotFound(at.res.groupResource(), at.name)
	}
	if err := fits(at, current, only); err != nil {
		return nil, err
	}
	return s.put(watch.Deleted, at, current.DeepCopy())
}

// fits returns the error of a deletion that requires another object, in the words of k8s.io/apiserver (pkg/registry/rest, BeforeDelete).
func fits(at ref, current object, only metav1.Preconditions) error {
	var problem string
	switch uid, version := current.GetUID(), current.GetResourceVersion(); {
	case only.UID != nil && *only.UID != uid:
		problem = fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *only.UID, uid)
	case only.ResourceVersion != nil && *only.ResourceVersion != version:
		problem = fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *only.ResourceVersion, version)
	default:
		return nil
	}
	kind := current.GroupVersionKind().GroupKind()
	return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, at.name, errors.New(problem))
}

// put gives obj the next version, writes the journal, and only then shows it.
func (s *store) put(kind watch.EventType, at ref, obj object) (object, error) {
	version := s.version + 1
	obj.SetResourceVersion(strconv.FormatUint(version, 10))
	c := change{Type: kind, Object: obj, version: version, res: at.res}
	if err := s.journal.append(c); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	s.version = version
	if kind == watch.Deleted {
		delete(s.objects, at)
	} else {
		s.objects[at] = obj
	}
	s.history = append(s.history, c)
	if len(s.history) > historyLength {
		s.history = slices.Clone(s.history[len(s.history)-historyLength/2:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return obj, nil
}

// since gives the changes of a resource after a version, the version they reach, and a
// channel that is closed at the next change of anything. It reports false when the
// history does not go back that far.
func (s *store) since(res *resource, version uint64) ([]change, uint64, <-chan struct{}, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.version && (len(s.history) == 0 || s.history[0].version > version+1) {
		return nil, 0, nil, false
	}
	var found []change
	for _, c := range s.history {
		if c.res == res && c.version > version {
			found = append(found, c)
		}
	}
	return found, s.version, s.changed, true
}
