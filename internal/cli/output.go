package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
)

// outputFormats are the formats without an expression.
var outputFormats = []string{"table", "json", "yaml", "name"}

// outputFormat is how a command prints: a table for people, or the answer of the API for programs.
type outputFormat struct {
	name string
	path *jsonpath.JSONPath
}

// UnmarshalText reads the value of --output.
func (f *outputFormat) UnmarshalText(text []byte) error {
	name, expression, found := strings.Cut(string(text), "=")
	if name == "jsonpath" && expression != "" {
		f.name, f.path = name, jsonpath.New(name).AllowMissingKeys(true)
		if err := f.path.Parse(template(expression)); err != nil {
			return fmt.Errorf("read the expression of jsonpath: %w", err)
		}
		return nil
	}
	if found || !slices.Contains(outputFormats, name) {
		return fmt.Errorf("require %s or jsonpath=EXPRESSION, found %q", strings.Join(outputFormats, ", "), text)
	}
	f.name = name
	return nil
}

// template puts an expression such as .name or status into braces, as kubectl does.
func template(expression string) string {
	if strings.Contains(expression, "{") {
		return expression
	}
	return "{" + strings.TrimPrefix(expression, "$") + "}"
}

// forPrograms reports whether the answer is printed whole.
func (c *Connection) forPrograms() bool { return c.Output.name != "table" }

// print prints an answer of the API for programs.
func (c *Connection) print(t *Terminal, answer any) error {
	switch c.Output.name {
	case "yaml":
		text, err := yaml.Marshal(answer)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		t.write(text)
		return nil
	case "name":
		names, err := namesOf(answer)
		for _, name := range names {
			t.write([]byte(name + "\n"))
		}
		return err
	case "jsonpath":
		return c.Output.printPath(t.Out, answer)
	}
	return t.json(answer)
}

// printNext prints one of many answers: JSON in one line, YAML as a document of its own.
func (c *Connection) printNext(t *Terminal, answer any) error {
	switch c.Output.name {
	case "json":
		return json.NewEncoder(t.Out).Encode(answer)
	case "yaml":
		t.write([]byte("---\n"))
	}
	return c.print(t, answer)
}

func (f *outputFormat) printPath(to io.Writer, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	var generic any
	if err := json.Unmarshal(text, &generic); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if err := f.path.Execute(to, generic); err != nil {
		return &Failure{fmt.Errorf("evaluate the expression of jsonpath: %w", err), exitUsage}
	}
	_, err = io.WriteString(to, "\n")
	return err
}

// table prints a table for people.
func (c *Connection) table(t *Terminal, table *view.Table) {
	table.Headless = c.NoHeaders
	t.table(table)
}

// namesOf returns the names of objects with their kind in front, such as cluster/lab: commands take them.
func namesOf(answer any) ([]string, error) {
	var names []string
	switch a := answer.(type) {
	case []wire.Cluster:
		for n := range a {
			names = append(names, kindCluster+a[n].Name)
		}
	case []wire.DeletedCluster:
		for n := range a {
			names = append(names, kindCluster+a[n].Name)
		}
	case *wire.Cluster:
		names = append(names, kindCluster+a.Name)
	case []wire.InfraEnv:
		for n := range a {
			names = append(names, kindInfraEnv+a[n].Name)
		}
	case *wire.InfraEnv:
		names = append(names, kindInfraEnv+a.Name)
	case []wire.Host:
		for n := range a {
			names = append(names, kindHost+view.HostName(&a[n]))
		}
	case *wire.Host:
		names = append(names, kindHost+view.HostName(a))
	case created:
		names = append(names, kindCluster+a.Cluster.Name)
		if a.InfraEnv != nil {
			names = append(names, kindInfraEnv+a.InfraEnv.Name)
		}
	default:
		return nil, usagef("-o name prints clusters, hosts and InfraEnvs only")
	}
	return names, nil
}

// Kinds in front of names, which -o name prints.
const (
	kindCluster  = "cluster/"
	kindHost     = "host/"
	kindInfraEnv = "infra-env/"
)
