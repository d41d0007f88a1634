package manifests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/manifests/nodeconfig"
	"slipway/internal/hostconfig/useryaml"
	"slipway/internal/model"
)

// MaxContent bounds the content of a manifest, in bytes (docs/reference/ignition.md,
// "Rules for manifests").
const MaxContent = 1 << 20

// maxExpanded bounds the size of a document once its aliases are replaced, in bytes.
const maxExpanded = 8 << 20

// Decode decodes the content of a manifest as a client sends it, in base64, and checks it. An error is a
// model.ErrInvalid that begins with "content" and names the line.
func Decode(name, text string) ([]byte, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, model.Invalidf("content: must be base64: %s", err)
	}
	if err := CheckContent(name, content); err != nil {
		return nil, err
	}
	return content, nil
}

// CheckContent returns an error when the installer or the machine config controller of the new cluster cannot read a
// manifest: every document of a YAML file, the one value of a JSON file, the operations of a patch.
func CheckContent(name string, content []byte) error {
	if len(content) == 0 || len(content) > MaxContent {
		return model.Invalidf("content: require 1 to %d bytes, found %d", MaxContent, len(content))
	}
	var err error
	if IsPatch(name) {
		_, err = ParsePatch(name, content)
	} else {
		err = CheckObjects(name, content)
	}
	if errors.Is(err, model.ErrInvalid) {
		return model.Invalidf("content: %s", err)
	}
	return err
}

// CheckObjects returns an error when a document of a file is an object that the machine config controller cannot read.
func CheckObjects(name string, content []byte) error {
	documents, err := Documents(name, content)
	if err != nil {
		return err
	}
	for i, d := range documents {
		if err := nodeconfig.Check(d); err != nil {
			return model.Invalidf("the machine config controller cannot read document %d of %s: %s", i+1, name, err)
		}
	}
	return nil
}

// Documents returns the non-empty documents of a file, in their order. An error is a model.ErrInvalid that
// names the file, the document and the line.
func Documents(name string, content []byte) ([][]byte, error) {
	if path.Ext(name) == ".json" {
		var value any
		if err := json.Unmarshal(content, &value); err != nil {
			return nil, model.Invalidf("%s is not valid JSON at line %d: %s", name, lineOfJSON(content, err), err)
		}
		return [][]byte{content}, nil
	}
	var found [][]byte
	for i, d := range split(content) {
		if err := useryaml.Check(d.text, maxExpanded); err != nil {
			return nil, model.Invalidf("document %d of %s at line %d: %s", i+1, name, d.line, err)
		}
		var value any
		if err := yaml.Unmarshal(d.text, &value); err != nil {
			return nil, model.Invalidf("%s is not valid YAML: document %d%s", name, i+1, place(err, d.line))
		}
		if value != nil { // more than comments
			found = append(found, d.text)
		}
	}
	return found, nil
}

// document is a part of a YAML file.
type document struct {
	text []byte
	line int // of the file that it begins with, from 1
}

// split splits a YAML file at its markers: "---" at the beginning of a line, with or without something after
// it, starts a document, and "..." ends one.
func split(content []byte) []document {
	var all []document
	current := document{line: 1}
	line := 0
	for text := range bytes.Lines(content) {
		line++
		rest, marked := bytes.CutPrefix(text, []byte("---"))
		ends := bytes.HasPrefix(text, []byte("...")) && len(bytes.TrimSpace(text)) == 3
		if !ends && (!marked || len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t\r\n")) {
			current.text = append(current.text, text...)
			continue
		}
		if len(bytes.TrimSpace(current.text)) > 0 {
			all = append(all, current)
		}
		current = document{line: line}
		if ends {
			rest = []byte("\n")
		}
		current.text = append(current.text, rest...) // what follows the marker belongs to the document
		if len(rest) == 0 {
			current.line = line + 1
		}
	}
	if len(bytes.TrimSpace(current.text)) > 0 {
		all = append(all, current)
	}
	return all
}

// lineInError matches the line that the YAML library reports, within its document.
var lineInError = regexp.MustCompile(`line (\d+): `)

// place returns the line of the whole file that an error is at.
func place(err error, first int) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	match := lineInError.FindStringSubmatchIndex(text)
	if match == nil {
		return " at line " + strconv.Itoa(first) + ": " + text // the library names no line of the first
	}
	n, _ := strconv.Atoi(text[match[2]:match[3]])
	return " at line " + strconv.Itoa(first+n-1) + ": " + text[:match[0]] + text[match[1]:]
}

func lineOfJSON(content []byte, err error) int {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 1
	}
	return 1 + bytes.Count(content[:min(int(syntax.Offset), len(content))], []byte("\n"))
}
