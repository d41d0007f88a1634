package api_test

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// serviceDocument is the API document of openshift/assisted-service at commit
// 063b257950f7 (swagger.yaml) without its descriptions: what existing clients are made from.
const serviceDocument = "testdata/assisted-service-v2.yaml"

// differences from the contract that are meant, and why: how their lines begin. A line that begins with "-" is in the contract alone, a
// line with "+" in ours alone.
var differences = map[string]string{
	"-schema step-reply.step_type is step-type": "our agent answers its own finer steps too, and an unknown step is a 400 that names it",
	"+schema step-reply.step_type is string":    "the other side of the same",
	"+schema step.fence is step-fence":          "our agent writes no disk for another boot or attempt; other agents do not get it",
	"+schema step-fence is ":                    "the same",
	"+schema step-fence.boot":                   "the same",
	"+schema step-fence.cluster_id":             "the same",
	"+schema step-fence.cluster_attempt":        "the same",
	"+schema step-fence.host_attempt":           "the same",
	"+schema interface.current_mac_address":     "other hosts get answers from the address that a user gave an interface",

	"-GET /v2/supported-operators answers 200": "the contract's document says numa-resources where its service and all others say " +
		"numaresources",
	"+GET /v2/supported-operators answers 200": "the other side of the same",
}

// node is a part of an API document, of either version of the format.
type node map[string]any

func (n node) child(name string) node {
	out, _ := n[name].(map[string]any)
	return out
}

func (n node) text(name string) string {
	out, _ := n[name].(string)
	return out
}

func (n node) list(name string) []node {
	items, _ := n[name].([]any)
	out := make([]node, len(items))
	for i, item := range items {
		out[i], _ = item.(map[string]any)
	}
	return out
}

func (n node) words(name string) []string {
	items, _ := n[name].([]any)
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = fmt.Sprint(item)
	}
	sort.Strings(out)
	return out
}

func readNode(t *testing.T, file string) node {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var out node
	require.NoError(t, yaml.Unmarshal(text, &out))
	return out
}

// shape returns what clients rely on of a schema: its type, or the schema it refers to, and its closed set of values.
func shape(n node) string {
	if all := n.list("allOf"); len(all) == 1 && n.text("$ref") == "" {
		n = all[0] // a reference beside marks of the code generator
	}
	if ref := n.text("$ref"); ref != "" {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	out := n.text("type")
	if out == "array" {
		return "list of " + shape(n.child("items"))
	}
	if format := n.text("format"); format == "uuid" || format == "date-time" {
		out += " " + format
	}
	if enum := n.words("enum"); len(enum) > 0 {
		out += " of " + strings.Join(enum, "|")
	}
	return out
}

// parameters of the contract's format are one list, with the body among them.
func parameterLines(at string, operation node) []string {
	var out []string
	add := func(in, name string, required any, what string) {
		out = append(out, fmt.Sprintf("%s %s %s required=%t: %s", at, in, name, required == true, what))
	}
	for _, p := range operation.list("parameters") {
		switch {
		case p.text("in") == "body":
			add("body", "", p["required"], shape(p.child("schema")))
		case p.text("in") == "formData":
			add("file", p.text("name"), nil, "")
		case p.child("schema") != nil:
			add(p.text("in"), p.text("name"), p["required"], shape(p.child("schema")))
		default:
			add(p.text("in"), p.text("name"), p["required"], shape(p))
		}
	}
	body := operation.child("requestBody")
	content := body.child("content")
	if media := content.child("application/json"); media != nil {
		add("body", "", body["required"], shape(media.child("schema")))
	}
	for name := range content.child("multipart/form-data").child("schema").child("properties") {
		add("file", name, nil, "")
	}
	return out
}

func responseLines(at string, operation node) []string {
	var out []string
	for code, value := range operation.child("responses") {
		if !strings.HasPrefix(code, "2") {
			continue
		}
		response := node(value.(map[string]any))
		schema := response.child("schema")
		for _, media := range response.child("content") {
			schema = node(media.(map[string]any)).child("schema")
		}
		what := shape(schema)
		if schema.text("format") == "binary" || what == "file" {
			what = "bytes"
		}
		out = append(out, fmt.Sprintf("%s answers %s: %s", at, code, what))
	}
	return out
}

// schemaLines has a line for each value of a closed set: a value that is ours alone is one difference.
func schemaLines(at string, schema node) []string {
	values := schema.words("enum")
	out := []string{at + " is " + strings.TrimSuffix(shape(schema), " of "+strings.Join(values, "|"))}
	for _, value := range values {
		out = append(out, at+" may be "+value)
	}
	for _, name := range schema.words("required") {
		out = append(out, at+" requires "+name)
	}
	for name, value := range schema.child("properties") {
		property := node(value.(map[string]any))
		out = append(out, fmt.Sprintf("%s.%s is %s", at, name, shape(property)))
		if property.text("type") == "object" {
			out = append(out, schemaLines(at+"."+name, property)...)
		}
	}
	return out
}

// promises lists what clients rely on of a document, a line each.
func promises(document node) (operations int, lines []string) {
	for path := range document.child("paths") {
		item := document.child("paths").child(path)
		for method := range item {
			operation := item.child(method)
			operations++
			at := strings.ToUpper(method) + " " + path
			lines = append(lines, at+" is "+operation.text("operationId"))
			lines = append(lines, parameterLines(at, operation)...)
			lines = append(lines, responseLines(at, operation)...)
		}
	}
	schemas := document.child("definitions")
	if schemas == nil {
		schemas = document.child("components").child("schemas")
	}
	for name := range schemas {
		lines = append(lines, schemaLines("schema "+name, schemas.child(name))...)
	}
	sort.Strings(lines)
	return operations, slices.Compact(lines)
}

// isOwnStage reports whether a line is about a stage that only our agent passes: a change of workflows brings it.
func isOwnStage(line string) bool {
	name, is := strings.CutPrefix(line, "+schema host-stage may be ")
	return is && slices.ContainsFunc(slices.Concat(
		steps.Stages(model.RoleMaster, true, false), steps.Stages(model.RoleMaster, false, false),
		steps.Stages(model.RoleWorker, false, false), steps.Stages(model.RoleMaster, true, true), steps.DayTwoStages(),
	), func(s steps.Stage) bool { return string(s.Name) == name && s.Change != "" })
}

func isListed(line string) bool {
	for beginning := range differences {
		if strings.HasPrefix(line, beginning) {
			return true
		}
	}
	return false
}

func TestDocumentPromisesWhatTheContractDoes(t *testing.T) {
	t.Parallel()
	wanted, theirs := promises(readNode(t, serviceDocument))
	found, ours := promises(readNode(t, "openapi.yaml"))
	var unlisted []string
	listed := 0
	compare := func(mark string, lines, others []string) {
		for _, line := range lines {
			switch {
			case slices.Contains(others, line):
			case isListed(mark + line):
				listed++
			case isOwnStage(mark + line):
			default:
				unlisted = append(unlisted, mark+line)
			}
		}
	}
	compare("-", theirs, ours)
	compare("+", ours, theirs)
	require.Empty(t, unlisted, "the document differs from the contract: correct it, or list the line with its reason")
	require.Equal(t, len(differences), listed, "a listed difference is none any more")
	require.Equal(t, wanted, found)
	t.Logf(
		"operations as the contract has them: %d of %d; promises held: %d; differences with a reason: %d",
		found,
		wanted,
		len(theirs),
		listed,
	)
}
