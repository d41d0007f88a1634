package kubeapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reply writes v as JSON.
func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller went away
}

// replyError writes an error as the Status object clients expect.
func replyError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	reply(w, int(status.Code), status)
}

func statusOf(err error) metav1.Status {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// user returns who sends a request: an impersonated user, else the bearer token taken as a name, else the
// administrator.
func user(r *http.Request) (name string, groups []string) {
	name = r.Header.Get("Impersonate-User")
	if name != "" {
		return name, append(r.Header.Values("Impersonate-Group"), "system:authenticated")
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case token == "" || token == UserAdmin:
		return UserAdmin, []string{"system:masters", "system:authenticated"}
	case strings.HasPrefix(token, "system:node:"):
		return token, []string{"system:nodes", "system:authenticated"}
	case strings.HasPrefix(token, "system:serviceaccount:"):
		namespace, _, _ := strings.Cut(strings.TrimPrefix(token, "system:serviceaccount:"), ":")
		return token, []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	case strings.HasPrefix(token, "system:bootstrap:"):
		return token, []string{"system:bootstrappers", "system:authenticated"}
	}
	return token, []string{"system:authenticated"}
}
