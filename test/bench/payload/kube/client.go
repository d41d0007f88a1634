// Package kube gives the API of a bench cluster its objects.
package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"slipway/internal/sim/payload/pki"
)

// requestLimit bounds one call: emulated API servers take their time.
const requestLimit = 2 * time.Minute

// Config lets an administrator into the API at server.
func Config(server string, keys pki.Keys) *rest.Config {
	return &rest.Config{
		Host: server, Timeout: requestLimit, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAFile:   keys.Cert(pki.APISigner),
			CertFile: keys.Cert(pki.Admin),
			KeyFile:  keys.Key(pki.Admin),
		},
	}
}

// Answers says why a server does not answer a request of path with 200.
func Answers(ctx context.Context, config *rest.Config, path string) error {
	client, err := rest.HTTPClientFor(config) // equal configs share connections, of which each costs a handshake
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("require %s%s to answer, found %s: %s", config.Host, path, response.Status, firstLine(text))
	}
	return nil
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return string(line)
}

// Objects reads the documents of a manifest, YAML or JSON, lists taken apart.
func Objects(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(o.Object) == 0: // an empty document
		case o.IsList():
			err = o.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, err
			}
		default:
			objects = append(objects, o)
		}
	}
}

// Folder reads the manifests of folders, in the order of folders and names. One that
// cannot be read is an error.
func Folder(dirs ...string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("list manifests: %w", err)
		}
		for _, e := range entries {
			if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("read manifest: %w", err)
			}
			objects, err := Objects(content)
			if err != nil {
				return nil, fmt.Errorf("read manifest %s: %w", e.Name(), err)
			}
			all = append(all, objects...)
		}
	}
	return all, nil
}
