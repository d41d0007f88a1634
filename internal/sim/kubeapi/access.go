package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	certv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access is one request as the API server authorizes it (Kubernetes, "Authorization overview").
type Access struct {
	User                                   string
	Verb, Group, Resource, Namespace, Name string
	// Subresource is part of the resource in rules: pods/log.
	Subresource string
	Allowed     bool
}

// fullResource returns the resource as rules name it.
func (a Access) fullResource() string {
	if a.Subresource == "" {
		return a.Resource
	}
	return a.Resource + "/" + a.Subresource
}

// authorize refuses what the roles in the cluster do not grant to a service account, as RBAC does. The administrator,
// kubelets and node bootstrappers have fixed rights: what those may do is not of interest here.
func (s *Server) authorize(r *http.Request, to target) error {
	name, _ := user(r)
	if !strings.HasPrefix(name, "system:serviceaccount:") || name == UserNodeBootstrapper {
		return nil
	}
	return s.check(Access{
		User: name, Verb: verbOf(r, to), Group: to.res.Group, Resource: to.res.name, Subresource: to.subresource,
		Namespace: to.namespace, Name: to.name,
	})
}

// approve requires the right to approve for the signer of a request too.
func (s *Server) approve(r *http.Request, csr object) error {
	name, _ := user(r)
	if !strings.HasPrefix(name, "system:serviceaccount:") {
		return nil
	}
	signer, _, _ := unstructured.NestedString(csr.Object, "spec", "signerName")
	return s.check(Access{User: name, Verb: "approve", Group: certv1.GroupName, Resource: "signers", Name: signer})
}

func (s *Server) check(a Access) error {
	a.Allowed = s.granted(a)
	if s.audit != nil {
		s.audit(a)
	}
	if a.Allowed {
		return nil
	}
	where := " at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf(" in the namespace %q", a.Namespace)
	}
	//nolint:staticcheck // the text of kube-apiserver
	reason := fmt.Errorf("User %q cannot %s resource %q in API group %q%s", a.User, a.Verb, a.fullResource(), a.Group, where)
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, reason)
}

func verbOf(r *http.Request, to target) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodPatch:
		return "patch"
	case r.Method == http.MethodDelete && to.name == "":
		return "deletecollection"
	case r.Method == http.MethodDelete:
		return "delete"
	case watch == "true" || watch == "1":
		return "watch"
	case to.name == "":
		return "list"
	}
	return "get"
}

// granted looks through the bindings of a service account.
func (s *Server) granted(a Access) bool {
	for _, obj := range s.objectsOf("ClusterRoleBinding", "") {
		var binding rbacv1.ClusterRoleBinding
		if readAs(obj, &binding) && bound(binding.Subjects, a.User, "") && s.roleAllows(binding.RoleRef, "", a) {
			return true
		}
	}
	if a.Namespace == "" {
		return false
	}
	for _, obj := range s.objectsOf("RoleBinding", a.Namespace) {
		var binding rbacv1.RoleBinding
		if readAs(obj, &binding) && bound(binding.Subjects, a.User, a.Namespace) && s.roleAllows(binding.RoleRef, a.Namespace, a) {
			return true
		}
	}
	return false
}

func (s *Server) objectsOf(kindName, namespace string) []object {
	found, _ := s.store.list(resourceOfKind(kind(rbacv1.GroupName, "v1", kindName)), namespace)
	return found
}

func readAs(obj object, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into) == nil
}

func bound(subjects []rbacv1.Subject, user, namespace string) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		if s.Kind != rbacv1.ServiceAccountKind {
			return s.Kind == rbacv1.UserKind && s.Name == user
		}
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return user == "system:serviceaccount:"+namespace+":"+s.Name
	})
}

func (s *Server) roleAllows(role rbacv1.RoleRef, namespace string, a Access) bool {
	at := ref{resourceOfKind(kind(rbacv1.GroupName, "v1", role.Kind)), "", role.Name}
	if at.res == nil {
		return false
	}
	if at.res.namespaced {
		at.namespace = namespace
	}
	obj, err := s.store.get(at)
	var rules struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}
	if err != nil || !readAs(obj, &rules) {
		return false
	}
	return slices.ContainsFunc(rules.Rules, func(rule rbacv1.PolicyRule) bool { return Grants(rule, a) })
}

// Grants reports whether a rule allows a request.
func Grants(rule rbacv1.PolicyRule, a Access) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, value) || slices.Contains(list, "*")
	}
	return has(rule.Verbs, a.Verb) && has(rule.APIGroups, a.Group) && has(rule.Resources, a.fullResource()) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}
