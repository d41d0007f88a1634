package kubeapi

import (
	"io"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// maxBody bounds what a request may carry, as a real API server does (3 MiB).
const maxBody = 3 << 20

// readObject reads a whole object, as JSON or as what client-go sends of the kinds it knows.
func readObject(r *http.Request) (object, error) {
	data, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if mediaType(r) != runtime.ContentTypeProtobuf {
		return parseObject(data)
	}
	typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest("parse body: " + err.Error())
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, apierrors.NewBadRequest("parse body: " + err.Error())
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

// readPreconditions reads what a request to delete requires of the object; no body requires nothing.
func readPreconditions(r *http.Request) (metav1.Preconditions, error) {
	var options metav1.DeleteOptions
	data, err := readBody(r)
	if err != nil || len(data) == 0 {
		return metav1.Preconditions{}, err
	}
	if mediaType(r) == runtime.ContentTypeProtobuf {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(data, nil, &options)
	} else {
		err = json.Unmarshal(data, &options)
	}
	if err != nil {
		return metav1.Preconditions{}, apierrors.NewBadRequest("parse body: " + err.Error())
	}
	return ptr.Deref(options.Preconditions, metav1.Preconditions{}), nil
}

func readBody(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest("read body: " + err.Error())
	}
	if len(data) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError("require at most 3 MiB")
	}
	return data, nil
}

func parseObject(data []byte) (object, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(data, &obj.Object); err != nil {
		return nil, apierrors.NewBadRequest("parse body: " + err.Error())
	}
	return obj, nil
}

// patch merges what was sent into the object. A strategic merge is treated as a plain
// one: lists are replaced. An apply creates the object when it does not exist.
func (s *Server) patch(r *http.Request, to target) (object, error) {
	data, err := readBody(r)
	if err != nil {
		return nil, err
	}
	kind := types.PatchType(mediaType(r))
	switch kind {
	case types.MergePatchType, types.StrategicMergePatchType:
	case types.JSONPatchType:
		return s.jsonPatch(to, data)
	case types.ApplyPatchType:
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, apierrors.NewBadRequest("parse body: " + err.Error())
		}
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method,
			to.res.groupResource(), to.name, "require a merge patch or an apply, found "+string(kind), 0, false)
	}
	sent, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	if kind == types.ApplyPatchType && to.subresource == "" {
		made := sent.DeepCopy()
		if to.res.hasStatus {
			unstructured.RemoveNestedField(made.Object, "status")
		}
		obj, err := s.store.create(to.ref, made)
		if !apierrors.IsAlreadyExists(err) {
			return obj, err
		}
	}
	return s.write(to, func(current object) (object, error) {
		next := mergePatch(current.DeepCopy().Object, sent.Object)
		if _, held, _ := unstructured.NestedString(sent.Object, "metadata", "resourceVersion"); !held {
			unstructured.RemoveNestedField(next, "metadata", "resourceVersion")
		}
		return &unstructured.Unstructured{Object: next}, nil
	})
}

// jsonPatch applies RFC 6902; a test that fails is a 422, as of a real server.
func (s *Server) jsonPatch(to target, data []byte) (object, error) {
	steps, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, apierrors.NewBadRequest("parse body: " + err.Error())
	}
	return s.write(to, func(current object) (object, error) {
		text, err := current.MarshalJSON()
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if text, err = steps.Apply(text); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, http.MethodPatch, to.res.groupResource(), to.name,
				err.Error(), 0, false)
		}
		next, err := parseObject(text)
		if err == nil {
			next.SetResourceVersion("")
		}
		return next, err
	})
}

// mergePatch applies RFC 7386 to objects: null removes, objects merge, all else replaces.
func mergePatch(into, patch map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			inner, _ := into[key].(map[string]any)
			into[key] = mergePatch(inner, value)
		default:
			into[key] = value
		}
	}
	return into
}
