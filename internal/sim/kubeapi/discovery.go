package kubeapi

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

func serveVersion(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, version.Info{Major: "1", Minor: "33", GitVersion: "v1.33.0+simulated"})
}

func serveCoreVersions(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}, Versions: []string{"v1"}})
}

func (s *Server) serveGroups(w http.ResponseWriter, _ *http.Request) {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	var seen []schema.GroupVersion
	for _, r := range resources {
		gv := r.GroupVersion()
		if gv.Group == "" || slices.Contains(seen, gv) || !s.served(r) {
			continue
		}
		seen = append(seen, gv)
		served := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		at := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == gv.Group })
		if at < 0 {
			list.Groups = append(list.Groups, metav1.APIGroup{
				Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{served}, PreferredVersion: served,
			})
			continue
		}
		list.Groups[at].Versions = append(list.Groups[at].Versions, served)
	}
	reply(w, http.StatusOK, list)
}

func (s *Server) serveResources(w http.ResponseWriter, r *http.Request) {
	gv := groupVersion(r)
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, res := range resources {
		if res.GroupVersion() != gv || !s.served(res) {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.name, Kind: res.Kind, Namespaced: res.namespaced,
			Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"},
		})
	}
	reply(w, http.StatusOK, list)
}
