package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// formats are the string formats of openapi.yaml that requests are validated against.
var formats = openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
	"uuid": openapi3.NewCallbackValidator(func(text string) error {
		_, err := uuid.Parse(text)
		return err
	}),
})

// maxValues is how many values a body may hold: the reply of a step is one text in it, and the largest definition, a static network for
// each of a thousand hosts, has some ten thousand.
const maxValues = 100_000

// Read validates the JSON body of a request against the schema of its operation and
// decodes it into a value. Unknown fields and broken JSON are httpapi.ErrMalformed, values
// outside the schema model.ErrInvalid: 400 both, as clients of assisted-service test for. A null counts as absent.
func Read(r *http.Request, into any) error {
	if err := requireJSON(r); err != nil {
		return err
	}
	text, err := readBody(r)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return httpapi.Errorf(httpapi.ErrMalformed, "a JSON body is required")
	}
	if err := wire.Bounded(text, maxValues); err != nil {
		return httpapi.Errorf(httpapi.ErrMalformed, "body: %s", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return httpapi.Errorf(httpapi.ErrMalformed, "the body is not valid JSON: %s", err)
	}
	if err := refuseLong("", tree); err != nil {
		return err
	}
	if err := refuseNUL("", tree); err != nil {
		return err
	}
	if schema := operationOf(r).body; schema != nil {
		if err := schema.VisitJSON(withoutNulls(tree), openapi3.EnableFormatValidation(), formats); err != nil {
			return explain("", err)
		}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return model.Invalidf("the body does not match the API document: %s", err)
	}
	return nil
}

// requireJSON refuses bodies of another media type, such as a form that another web site
// submits.
func requireJSON(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(header)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return httpapi.Errorf(httpapi.ErrMediaType, "require content of type application/json, found %q", header)
	}
	return nil
}

func withoutNulls(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			if value == nil {
				delete(node, key)
				continue
			}
			node[key] = withoutNulls(value)
		}
	case []any:
		for i, value := range node {
			node[i] = withoutNulls(value)
		}
	}
	return tree
}

// explain returns what the schema requires of a value and what was found. field is the
// path of the value; it is used when the error itself has none.
func explain(field string, err error) error {
	var fault *openapi3.SchemaError
	if !errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", field, err)
	}
	if path := fault.JSONPointer(); len(path) > 0 {
		field = strings.Join(path, ".")
	}
	if fault.SchemaField == "properties" {
		return httpapi.Errorf(
			httpapi.ErrMalformed,
			"%s is not a field of the API document",
			unknownField(fault, field),
		)
	}
	if fault.SchemaField == "required" {
		return model.Invalidf("%s is required", field)
	}
	if field != "" {
		field += ": "
	}
	return model.Invalidf("%srequire %s, found %s", field, required(fault), found(fault))
}

// unknownField returns the path of a field that the schema does not define: the path of
// its object, and the name that the reason of the error quotes.
func unknownField(fault *openapi3.SchemaError, path string) string {
	parts := strings.Split(fault.Reason, `"`)
	if len(parts) < 2 || strings.HasSuffix(path, parts[1]) {
		return path
	}
	return strings.TrimPrefix(path+"."+parts[1], ".")
}

func required(fault *openapi3.SchemaError) string {
	s := fault.Schema
	switch fault.SchemaField {
	case "enum":
		options := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			options[i] = fmt.Sprint(v)
		}
		return "one of " + strings.Join(options, ", ")
	case "type":
		return "the type " + strings.Join(s.Type.Slice(), " or ")
	case "pattern":
		return "text like " + s.Pattern
	case "format":
		return "the format " + s.Format
	case "minLength":
		return fmt.Sprintf("at least %d characters", s.MinLength)
	case "maxLength":
		return fmt.Sprintf("at most %d characters", *s.MaxLength)
	case "minimum":
		return "at least " + number(*s.Min)
	case "maximum":
		return "at most " + number(*s.Max)
	}
	return fault.SchemaField
}

// found quotes a value, unless it is too long or may be secret.
func found(fault *openapi3.SchemaError) string {
	switch value := fault.Value.(type) {
	case string:
		switch {
		case fault.SchemaField == "minLength" || fault.SchemaField == "maxLength":
			return fmt.Sprintf("%d", len([]rune(value)))
		case len(value) > 100:
			return fmt.Sprintf("a text of %d bytes", len(value))
		}
		return fmt.Sprintf("%q", value)
	case float64:
		return number(value)
	case bool:
		return fmt.Sprint(value)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "null"
}

// number writes large numbers without an exponent.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
