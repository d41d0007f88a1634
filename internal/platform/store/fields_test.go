package store_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// otherID is the id that fields get: a cluster has it.
var otherID = uuid.MustParse("0b0e5a0e-58b5-4c7c-9d0c-6d3b1f6a2c11")

var otherTime = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

// otherValues are values of types that do not take any value. No object of these tests has them before.
var otherValues = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():           otherTime,
	reflect.TypeFor[wire.DateTime]():       wire.DateTime(otherTime),
	reflect.TypeFor[uuid.UUID]():           otherID,
	reflect.TypeFor[netip.Addr]():          netip.MustParseAddr("198.51.100.7"),
	reflect.TypeFor[netip.Prefix]():        netip.MustParsePrefix("198.51.100.0/24"),
	reflect.TypeFor[model.HostKind]():      model.KindAddToExistingClusterHost,
	reflect.TypeFor[model.HostStatus]():    model.HostKnown,
	reflect.TypeFor[model.Role]():          model.RoleWorker,
	reflect.TypeFor[model.AgentSteps]():    model.InstallStep,
	reflect.TypeFor[model.ClusterKind]():   model.KindAddHostsCluster,
	reflect.TypeFor[model.ClusterStatus](): model.ClusterReady,
}

// leaf is a field of a noun, or of a struct in it.
type leaf struct {
	name  string
	index []int
}

// leaves lists the fields of a struct, and instead of a struct of package model its fields.
func leaves(of reflect.Type) []leaf {
	var out []leaf
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Type.Kind() != reflect.Struct || !strings.HasSuffix(field.Type.PkgPath(), "internal/model") {
			out = append(out, leaf{field.Name, []int{i}})
			continue
		}
		for _, inner := range leaves(field.Type) {
			out = append(out, leaf{field.Name + "." + inner.name, append([]int{i}, inner.index...)})
		}
	}
	return out
}

// of reads the field of a noun.
func (l leaf) of(noun any) any { return reflect.ValueOf(noun).Elem().FieldByIndex(l.index).Interface() }

// change gives the field of a noun another value, which it returns.
func (l leaf) change(noun any) any {
	alter(reflect.ValueOf(noun).Elem().FieldByIndex(l.index))
	return l.of(noun)
}

func alter(v reflect.Value) {
	if other, ok := otherValues[v.Type()]; ok {
		v.Set(reflect.ValueOf(other))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 3)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(v.Float() + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		alter(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		alter(v.Index(0))
	case reflect.Map:
		name, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		alter(name)
		alter(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(name, value)
	case reflect.Struct:
		for i := range v.NumField() {
			alter(v.Field(i))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	default:
		panic("require a value of " + v.Type().String())
	}
}

// notCarried are fields that a path does not write or read, and why.
type notCarried map[string]string

func (n notCarried) and(more notCarried) notCarried {
	out := notCarried{}
	for name, why := range n {
		out[name] = why
	}
	for name, why := range more {
		out[name] = why
	}
	return out
}

// check fails for a name that is no field.
func (n notCarried) check(t *testing.T, of reflect.Type) {
	t.Helper()
	known := map[string]bool{}
	for _, l := range leaves(of) {
		known[l.name] = true
	}
	for name, why := range n {
		require.True(t, known[name], "require a field, found %s", name)
		require.NotEmpty(t, why)
	}
}

// onlyChanged checks an object that was read before and after the change of one field alone: it has the new value unless the
// path does not carry it, and nothing else changed. UpdatedAt moves with each change that is carried except quiet ones.
func onlyChanged(t *testing.T, before, after any, changed leaf, want any, lost notCarried, quiet bool) {
	t.Helper()
	carried := lost[changed.name] == ""
	for _, l := range leaves(reflect.TypeOf(before).Elem()) {
		was, is := l.of(before), l.of(after)
		switch {
		case l.name == "UpdatedAt":
			moved := is.(time.Time).After(was.(time.Time))
			require.Equal(t, carried && !quiet, moved, "UpdatedAt follows a change of %s", changed.name)
		case l.name == "StatusUpdatedAt":
			moved := is.(time.Time).After(was.(time.Time))
			require.Equal(t, carried && changed.name == "Status", moved, "StatusUpdatedAt after a change of %s", changed.name)
		case l.name == changed.name && carried:
			require.Equal(t, want, is, changed.name)
		case l.name == changed.name:
			require.NotEqual(t, want, is, "%s is carried now: take it off the list of those that are not", changed.name)
		default:
			require.Equal(t, was, is, "%s after a change of %s", l.name, changed.name)
		}
	}
}

// withOther opens a database in which a cluster has otherID.
func withOther(t *testing.T) *store.Store {
	t.Helper()
	s, _ := open(t)
	other := &model.Cluster{ID: otherID, Kind: model.KindCluster, Name: "other", Status: model.ClusterInsufficient, WorkflowStarted: true}
	require.NoError(t, s.CreateCluster(t.Context(), other, func(*store.Tx) {}))
	return s
}

// errKept refuses a deletion that only read.
var errKept = errors.New("it stays")
