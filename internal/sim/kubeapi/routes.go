package kubeapi

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is the object or list that the path of a request names.
type target struct {
	ref
	subresource string
}

// Handler serves the API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	}
	mux.HandleFunc("GET /version", serveVersion)
	mux.HandleFunc("GET /api", serveCoreVersions)
	mux.HandleFunc("GET /apis", s.serveGroups)
	mux.HandleFunc("GET /api/{version}", s.serveResources)
	mux.HandleFunc("GET /apis/{group}/{version}", s.serveResources)
	mux.HandleFunc("/api/{version}/{rest...}", s.serveObjects)
	mux.HandleFunc("/apis/{group}/{version}/{rest...}", s.serveObjects)
	mux.HandleFunc("GET /config/{pool}", serveNodeConfig)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		replyError(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", r.URL.Path, 0, false))
	})
	return mux
}

func groupVersion(r *http.Request) schema.GroupVersion {
	return schema.GroupVersion{Group: r.PathValue("group"), Version: r.PathValue("version")}
}

func (s *Server) serveObjects(w http.ResponseWriter, r *http.Request) {
	to, err := parseTarget(groupVersion(r), r.PathValue("rest"))
	if err == nil && !s.served(to.res) {
		err = apierrors.NewNotFound(to.res.groupResource(), to.name)
	}
	if err != nil {
		replyError(w, err)
		return
	}
	if err := s.authorize(r, to); err != nil {
		replyError(w, err)
		return
	}
	if to.name == "" {
		s.serveCollection(w, r, to)
		return
	}
	s.serveObject(w, r, to)
}

// parseTarget reads resource[/name[/subresource]], within namespaces/<namespace> or not.
func parseTarget(gv schema.GroupVersion, path string) (target, error) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	var namespace string
	if segments[0] == "namespaces" && len(segments) > 2 && segments[2] != "status" && segments[2] != "finalize" {
		namespace, segments = segments[1], segments[2:]
	}
	res := resourceNamed(gv, segments[0])
	if res == nil || len(segments) > 3 {
		return target{}, apierrors.NewNotFound(schema.GroupResource{Group: gv.Group, Resource: segments[0]}, path)
	}
	to := target{ref: ref{res: res, namespace: namespace}}
	if len(segments) > 1 {
		to.name = segments[1]
	}
	if len(segments) > 2 {
		to.subresource = segments[2]
	}
	if to.name != "" && res.namespaced != (namespace != "") {
		return target{}, apierrors.NewNotFound(res.groupResource(), to.name)
	}
	return to, nil
}
