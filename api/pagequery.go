package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// listPage is how many items an answer of a list has without a limit.
const listPage = 100

// pageQuery reads the parameters of a list that comes in pages. It remembers the filters that were read: a page token is valid with the
// same ones only. The first error stays.
type pageQuery struct {
	values  url.Values
	filters []string // the list, then the parameters that narrow it
	err     error
}

func newPageQuery(r *http.Request) *pageQuery {
	return &pageQuery{values: r.URL.Query(), filters: []string{r.URL.Path}}
}

func (q *pageQuery) refuse(name, required, found string) {
	if q.err == nil {
		q.err = model.Invalidf("%s: require %s, found %q", name, required, found)
	}
}

// text reads a filter that is there once at most.
func (q *pageQuery) text(name string) string {
	text := q.values.Get(name)
	q.remember(name, text)
	return text
}

// list reads a filter with several values: it is repeated, or separated by commas.
func (q *pageQuery) list(name string) []string {
	var all []string
	for _, text := range q.values[name] {
		for value := range strings.SplitSeq(text, ",") {
			if value != "" {
				all = append(all, value)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	q.remember(name, all...)
	return all
}

// remember keeps what narrows the list. The database takes neither NUL nor invalid UTF-8.
func (q *pageQuery) remember(name string, values ...string) {
	for _, value := range values {
		if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
			q.refuse(name, "valid UTF-8 without NUL", value)
		}
		if value != "" {
			q.filters = append(q.filters, strconv.Quote(name)+strconv.Quote(value))
		}
	}
}

func (q *pageQuery) id(name string) uuid.UUID {
	text := q.text(name)
	if text == "" {
		return uuid.Nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		q.refuse(name, "a UUID", text)
	}
	return id
}

func (q *pageQuery) time(name string) (at time.Time) {
	text := q.text(name)
	if text == "" {
		return at
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.refuse(name, "a time such as 2026-11-29T08:00:00Z", text)
	}
	return at
}

// member is a closed set of the API.
type member interface {
	~string
	Valid() bool
}

// members reads a filter of values of a closed set.
func members[M member](q *pageQuery, name, required string) []string {
	all := q.list(name)
	for _, value := range all {
		if !M(value).Valid() {
			q.refuse(name, required, value)
		}
	}
	return all
}

// flag reads a choice that narrows nothing.
func (q *pageQuery) flag(name string) bool {
	text := q.values.Get(name)
	if text == "" {
		return false
	}
	set, err := strconv.ParseBool(text)
	if err != nil {
		q.refuse(name, "true or false", text)
	}
	return set
}

// limit reads how many items a page has; it was held against the document.
func (q *pageQuery) limit() int {
	if n, err := strconv.Atoi(q.values.Get("limit")); err == nil && n > 0 {
		return n
	}
	return listPage
}

// Parts of a page token: its form, a digest of the filters, and the sort key of the last item.
const (
	tokenForm    = 1
	digestLength = 8
	// endOfTimes bounds creation times in tokens, in microseconds: the year 10000.
	endOfTimes = 253402300800 * 1e6
)

// head returns the begin of the tokens of a query. It is called when all filters were read.
func (q *pageQuery) head() []byte {
	digest := sha256.Sum256([]byte(strings.Join(q.filters, "\n")))
	return append([]byte{tokenForm}, digest[:digestLength]...)
}

// token makes a page token, which has the sort key and nothing secret.
func (q *pageQuery) token(key []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(q.head(), key...))
}

// after reads the sort key of the page before; nil: there is none.
func (q *pageQuery) after(length int) []byte {
	text := q.values.Get("page_token")
	if text == "" {
		return nil
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
	head := q.head()
	switch {
	case err != nil, len(token) != len(head)+length, token[0] != tokenForm:
		q.refuse("page_token", "next_page_token of an answer of this list", text)
		return nil
	case !bytes.Equal(token[:len(head)], head):
		q.refuse("page_token", "the filters of the answer that it is from: its list is another one", text)
		return nil
	}
	return token[len(head):]
}

const placeLength = 8 + 16

// place reads where the page of hosts or clusters before ended.
func (q *pageQuery) place() *store.Place {
	key := q.after(placeLength)
	if key == nil {
		return nil
	}
	micros := binary.BigEndian.Uint64(key)
	if micros > endOfTimes {
		q.refuse("page_token", "next_page_token of an answer of this list", q.values.Get("page_token"))
		return nil
	}
	return &store.Place{CreatedAt: time.UnixMicro(int64(micros)).UTC(), ID: uuid.UUID(key[8:])}
}

func placeKey(created time.Time, id uuid.UUID) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(max(0, created.UnixMicro()))), id[:]...)
}

// before reads the id of the last event of the page before; zero: there is none.
func (q *pageQuery) before() int64 {
	key := q.after(8)
	if key == nil {
		return 0
	}
	id := int64(binary.BigEndian.Uint64(key))
	if id <= 0 {
		q.refuse("page_token", "next_page_token of an answer of this list", q.values.Get("page_token"))
	}
	return id
}

func eventKey(id int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }
