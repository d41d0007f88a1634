package kubeapi

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector selects the objects that a list or watch asked for.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

func selectorOf(r *http.Request) (selector, error) {
	byLabel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return selector{}, apierrors.NewBadRequest("parse labelSelector: " + err.Error())
	}
	byField, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return selector{}, apierrors.NewBadRequest("parse fieldSelector: " + err.Error())
	}
	return selector{byLabel, byField}, nil
}

func (s selector) matches(obj object) bool {
	return s.labels.Matches(labels.Set(obj.GetLabels())) && s.fields.Matches(fieldsOf{obj})
}

// fieldsOf reads any field of an object by its dotted path. A real API server allows
// but a few fields for each kind.
type fieldsOf struct{ obj object }

func (f fieldsOf) Has(path string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(f.obj.Object, strings.Split(path, ".")...)
	return err == nil && found
}

func (f fieldsOf) Get(path string) string {
	value, found, err := unstructured.NestedFieldNoCopy(f.obj.Object, strings.Split(path, ".")...)
	if err != nil || !found {
		return ""
	}
	return fmt.Sprint(value)
}

func mediaType(r *http.Request) string {
	name, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return r.Header.Get("Content-Type")
	}
	return name
}
