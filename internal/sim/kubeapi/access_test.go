package kubeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

func TestServiceAccountsMayDoWhatTheirRolesGrant(t *testing.T) {
	t.Parallel()
	var asked []kubeapi.Access
	_, url := start(t, kubeapi.Options{Audit: func(a kubeapi.Access) { asked = append(asked, a) }})
	ctx := await.Context(t)
	admin, err := kubernetes.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	own, err := kubernetes.NewForConfig(kubeapi.Config(url, kubeapi.UserController))
	require.NoError(t, err)

	_, err = own.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "no role is bound to it: %v", err)

	_, err = admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"mine"}, Verbs: []string{"get"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "assisted-installer", Name: "assisted-installer-controller"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	_, err = own.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	_, err = own.CoreV1().ConfigMaps("default").Get(ctx, "mine", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "granted: %v", err)
	_, err = own.CoreV1().ConfigMaps("default").Get(ctx, "other", metav1.GetOptions{})
	require.True(t, apierrors.IsForbidden(err), "another name: %v", err)
	_, err = own.CoreV1().Secrets("default").Get(ctx, "mine", metav1.GetOptions{})
	require.True(t, apierrors.IsForbidden(err), "another resource: %v", err)
	_, err = own.CoreV1().Nodes().Patch(ctx, "node", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	require.True(t, apierrors.IsForbidden(err), "another verb: %v", err)
	require.Equal(t, kubeapi.Access{User: kubeapi.UserController, Verb: "patch", Resource: "nodes", Name: "node"}, asked[len(asked)-1])
}

func TestJSONPatchesTestWhatTheyRemove(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx := await.Context(t)
	admin, err := kubernetes.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	_, err = admin.CoreV1().Nodes().Create(ctx, nodeWithTaints("first", "second"), metav1.CreateOptions{})
	require.NoError(t, err)
	patch := func(key string) error {
		_, err := admin.CoreV1().Nodes().Patch(ctx, "node", types.JSONPatchType,
			[]byte(`[{"op":"test","path":"/spec/taints/0/key","value":"`+key+`"},{"op":"remove","path":"/spec/taints/0"}]`), metav1.PatchOptions{})
		return err
	}
	require.True(t, apierrors.IsInvalid(patch("second")), "the taint is at another place")
	require.NoError(t, patch("first"))
	left, err := admin.CoreV1().Nodes().Get(ctx, "node", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, left.Spec.Taints, 1)
	require.Equal(t, "second", left.Spec.Taints[0].Key)
}

func nodeWithTaints(keys ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	for _, key := range keys {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
	return node
}
