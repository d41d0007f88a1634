package kubeapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

func TestSubscriptionsGetAnOperatorThatSucceeds(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, cancel := context.WithCancel(await.Context(t))
	objects, err := dynamic.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	group := schema.GroupVersion{Group: "operators.coreos.com", Version: "v1alpha1"}
	subscriptions := objects.Resource(group.WithResource("subscriptions")).Namespace("openshift-cnv")
	stream, err := subscriptions.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer stream.Stop()
	ended := make(chan error, 1)
	go func() { ended <- kubeapi.RunOLM(ctx, url, 10*time.Millisecond) }()

	wanted := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": "kubevirt-hyperconverged"}}}
	wanted.SetGroupVersionKind(group.WithKind("Subscription"))
	wanted.SetName("hco-operatorhub")
	_, err = subscriptions.Create(ctx, wanted, metav1.CreateOptions{})
	require.NoError(t, err)
	<-stream.ResultChan()
	changed := (<-stream.ResultChan()).Object.(*unstructured.Unstructured)
	installed, _, _ := unstructured.NestedString(changed.Object, "status", "installedCSV")
	require.Equal(t, "hco-operatorhub.v1.0.0", installed)
	csv, err := objects.Resource(group.WithResource("clusterserviceversions")).
		Namespace("openshift-cnv").
		Get(ctx, installed, metav1.GetOptions{})
	require.NoError(t, err)
	phase, _, _ := unstructured.NestedString(csv.Object, "status", "phase")
	require.Equal(t, "Succeeded", phase)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}
