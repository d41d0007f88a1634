package store

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// table maps the fields of a row struct that have a db tag to the columns of a database table. It is the only list of these
// columns: the text of selects, inserts and updates and the comparison of two rows come from it.
type table struct {
	name    string
	columns []column
}

// column is a field of a row struct.
type column struct {
	name  string
	field []int
	from  string // what a select reads
	use
}

// use says how a column is written and compared.
type use int

const (
	ordinary use = iota // written with a new row and with each change; another value is a change
	key                 // identifies the row: written with a new row
	once                // written with a new row
	follows             // written with a new row and with each change; another value is no change
	alone               // as ordinary, but written only when it has another value itself
	read                // written by other statements
	derived             // written with a new row and with each change, and not read with the row
)

// layout describes a table. A column that it does not name is ordinary.
type layout struct {
	name, alias               string
	key, once, follows, alone []string
	derived                   []string
	// read has columns that are only read, and the expressions of those that another table holds.
	read map[string]string
}

// tableOf lists the columns of a row struct. It panics when the layout names a column that the struct does not have.
func tableOf[R any](l layout) *table {
	t := &table{name: strings.TrimSpace(l.name + " " + l.alias)}
	named := map[string]use{}
	for u, columns := range map[use][]string{key: l.key, once: l.once, follows: l.follows, alone: l.alone, derived: l.derived} {
		for _, name := range columns {
			named[name] = u
		}
	}
	for name := range l.read {
		named[name] = read
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		name := field.Tag.Get("db")
		if name == "" {
			continue
		}
		from := l.read[name]
		if from == "" {
			from = dotted(l.alias, name)
		}
		t.columns = append(t.columns, column{name: name, field: field.Index, from: from, use: named[name]})
		delete(named, name)
	}
	for name := range named {
		panic(fmt.Sprintf("table %s has no column %s", t.name, name))
	}
	return t
}

func dotted(alias, name string) string {
	if alias == "" {
		return name
	}
	return alias + "." + name
}

// selects lists what a select reads. Pairs of a column and an expression replace some columns.
func (t *table) selects(instead ...string) string {
	var list []string
	for _, c := range t.columns {
		if c.use == derived {
			continue
		}
		from := c.from
		for j := 0; j < len(instead); j += 2 {
			if instead[j] == c.name {
				from = instead[j+1]
			}
		}
		list = append(list, from)
	}
	return strings.Join(list, ", ")
}

// scan reads the columns of selects into a row, a pointer to a row struct, and what a query has beside them into more. Null leaves an
// instant at zero.
func (t *table) scan(from pgx.Row, row any, more ...any) error {
	return from.Scan(append(t.targets(row, len(more)), more...)...)
}

// targets returns what scan reads into, with room for more.
func (t *table) targets(row any, more int) []any {
	v := reflect.ValueOf(row).Elem()
	into := make([]any, 0, len(t.columns)+more)
	for _, c := range t.columns {
		if c.use == derived {
			continue
		}
		field := v.FieldByIndex(c.field).Addr().Interface()
		if at, ok := field.(*time.Time); ok {
			field = (*instant)(at)
		}
		into = append(into, field)
	}
	return into
}

// instant is a time in UTC, zero for null.
type instant time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*i = instant{}
	if v.Valid {
		*i = instant(v.Time.UTC())
	}
	return nil
}

// record holds the values of a row as they are written, in the order of the columns of its table. It keeps them when the
// row changes.
type record []any

// record takes the values of a row, a pointer to a row struct.
func (t *table) record(row any) record {
	v := reflect.ValueOf(row).Elem()
	out := make(record, len(t.columns))
	for i, c := range t.columns {
		out[i] = stored(v.FieldByIndex(c.field))
	}
	return out
}

func stored(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case v.Kind() == reflect.Pointer:
		return v.Elem().Interface()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return v.Bytes()
	}
	return v.Interface()
}

// changed lists the columns whose values make a row another one.
func (t *table) changed(before, after record) []string {
	return t.unequal(before, after, ordinary, alone)
}

// unequal lists the columns of some uses whose values are others.
func (t *table) unequal(before, after record, of ...use) []string {
	var names []string
	for i, c := range t.columns {
		if slices.Contains(of, c.use) && !same(before[i], after[i]) {
			names = append(names, c.name)
		}
	}
	return names
}

// level gives a row the values of another one in the columns that do not make it another row.
func (t *table) level(from, to any) {
	source, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for _, c := range t.columns {
		if c.use != ordinary && c.use != alone {
			target.FieldByIndex(c.field).Set(source.FieldByIndex(c.field))
		}
	}
}

func same(a, b any) bool {
	if a, ok := a.([]byte); ok {
		b, _ := b.([]byte)
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// insert writes a new row.
func (t *table) insert(r record) (sql string, args []any) {
	var names, places []string
	for i, c := range t.columns {
		if c.use != read {
			args = append(args, r[i])
			names, places = append(names, c.name), append(places, fmt.Sprint("$", len(args)))
		}
	}
	name := strings.Replace(t.name, " ", " as ", 1)
	return "insert into " + name + " (" + strings.Join(names, ", ") + ") values (" + strings.Join(places, ", ") + ")", args
}

// excluded replaces a row that exists by the row of an insert, for its conflict clause.
func (t *table) excluded(instead ...string) string {
	var sets []string
	for _, c := range t.columns {
		if c.use == read || c.use == key {
			continue
		}
		value := "excluded." + c.name
		for j := 0; j < len(instead); j += 2 {
			if instead[j] == c.name {
				value = instead[j+1]
			}
		}
		sets = append(sets, c.name+" = "+value)
	}
	return strings.Join(sets, ", ")
}

// update returns the statement for a change of some columns.
func (t *table) update(r record, changed []string) (sql string, args []any) {
	return t.set(r, func(c column) bool {
		return c.use == ordinary || c.use == follows || c.use == derived || c.use == alone && slices.Contains(changed, c.name)
	})
}

// updateOnly writes some columns and nothing that follows them.
func (t *table) updateOnly(r record, columns ...string) (sql string, args []any) {
	return t.set(r, func(c column) bool { return slices.Contains(columns, c.name) })
}

func (t *table) set(r record, written func(column) bool) (sql string, args []any) {
	var sets, where []string
	for i, c := range t.columns {
		isKey := c.use == key
		if !isKey && !written(c) {
			continue
		}
		args = append(args, r[i])
		pair := fmt.Sprintf("%s = $%d", c.name, len(args))
		if isKey {
			where = append(where, pair)
		} else {
			sets = append(sets, pair)
		}
	}
	return "update " + t.name + " set " + strings.Join(sets, ", ") + " where " + strings.Join(where, " and "), args
}
