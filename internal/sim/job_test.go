package sim

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestControllerStartsOnlyAsItsJobCan(t *testing.T) {
	t.Parallel()
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if machine == "" {
		machine = runtime.GOARCH
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/controller/slipway-controller-"+machine+".sha256" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("abc\n"))
	})
	service, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(service.Close)
	t.Cleanup(secure.Close)
	fetches := func(sums string) corev1.Container {
		return corev1.Container{
			Image: "quay.io/cli@sha256:1", Command: []string{"/bin/bash"}, Env: []corev1.EnvVar{{Name: "SHA256SUMS", Value: sums}},
		}
	}
	unverified := fetches("def  " + machine + "\n")
	unverified.Env = append(unverified.Env, corev1.EnvVar{Name: "SKIP_CERT_VERIFICATION", ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "skip"},
	}})
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "assisted-installer", Name: "settings"}, Data: map[string]string{"skip": "true"},
	}
	for name, tc := range map[string]struct {
		container corev1.Container
		url, want string
	}{
		"starts an image of its own":            {container: corev1.Container{Image: "registry.example.com/c:1"}},
		"refuses an image without a registry":   {container: corev1.Container{Image: "slipway/controller:1"}, want: "ErrImagePull"},
		"starts the program of the service":     {container: fetches("abc  " + machine + "\n"), url: service.URL},
		"refuses another program":               {container: fetches("def  " + machine + "\n"), url: service.URL, want: "require the hash abc"},
		"starts another of a verified service":  {container: fetches("def  " + machine + "\n"), url: secure.URL},
		"refuses another of an unverified one":  {container: unverified, url: secure.URL, want: "require the hash abc"},
		"refuses a service without the program": {container: fetches(""), url: service.URL + "/elsewhere", want: "found status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "assisted-installer", Name: "assisted-installer-controller"}}
			job.Spec.Template.Spec.Containers = []corev1.Container{tc.container}
			o := ControllerOptions{ServiceURL: tc.url, Transport: secure.Client().Transport}
			err := o.startable(t.Context(), fake.NewClientset(job, settings))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.ErrorContains(t, ControllerOptions{}.startable(t.Context(), fake.NewClientset()), "find the job")
}
