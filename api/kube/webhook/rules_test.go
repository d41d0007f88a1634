package webhook_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/webhook"
)

// deployments answers what the ClusterDeployments of a hub are: missing, waiting or installed.
type deployments struct{ kube.Reader }

func (deployments) Get(_ context.Context, key kube.ObjectKey, into kube.Object, _ ...kube.GetOption) error {
	switch key.Name {
	case "installed":
		into.(*hive.ClusterDeployment).Spec.Installed = true
	case "waiting":
	default:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "clusterdeployments"}, key.Name)
	}
	return nil
}

// decide asks as the API server does (k8s.io/api/admission/v1): with both versions of a resource as JSON. It returns the code and the
// message of a refusal; 0 admits.
func decide(t *testing.T, kind, before, after string) (int32, string) {
	t.Helper()
	raw := func(text string) runtime.RawExtension {
		if text == "" {
			return runtime.RawExtension{}
		}
		content, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		var o map[string]any
		require.NoError(t, json.Unmarshal(content, &o))
		o["apiVersion"], o["kind"] = map[string]string{
			"Agent": "agent-install.openshift.io/v1beta1", "InfraEnv": "agent-install.openshift.io/v1beta1",
			"AgentClusterInstall": "extensions.hive.openshift.io/v1beta1",
		}[kind], kind
		metadata, _ := o["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["name"], metadata["namespace"] = "a", "one"
		o["metadata"] = metadata
		content, err = json.Marshal(o)
		require.NoError(t, err)
		return runtime.RawExtension{Raw: content}
	}
	request := admission.Request{AdmissionRequest: v1.AdmissionRequest{Operation: v1.Update, Object: raw(after), OldObject: raw(before)}}
	if before == "" {
		request.Operation = v1.Create
	}
	scheme := runtime.NewScheme()
	require.NoError(t, agentinstall.AddToScheme(scheme))
	require.NoError(t, hiveext.AddToScheme(scheme))
	response := webhook.Handlers(scheme, deployments{})[strings.ToLower(kind)+"s"].Handle(t.Context(), request)
	if response.Allowed {
		return 0, ""
	}
	return response.Result.Code, response.Result.Message
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	const (
		bound     = "spec: {clusterDeploymentName: {namespace: one, name: first}}\nstatus: {debugInfo: {state: %STATE}, kind: %KIND}"
		elsewhere = "spec: {clusterDeploymentName: {namespace: one, name: second}}\nstatus: {debugInfo: {state: %STATE}, kind: %KIND}"
		unbound   = "spec: {}\nstatus: {debugInfo: {state: %STATE}, kind: %KIND}"
		begun     = "\nstatus: {conditions: [{type: Failed, reason: x}, {type: Completed, reason: InstallationInProgress}]}"
		ended     = "\nstatus: {conditions: [{type: Completed, reason: InstallationCompleted}]}"
		failed    = "\nstatus: {conditions: [{type: Completed, reason: InstallationFailed}]}"
		waiting   = "\nstatus: {conditions: [{type: Completed, reason: InstallationNotStarted}]}"
	)
	in := func(text, state, kind string) string {
		return strings.NewReplacer("%STATE", state, "%KIND", kind).Replace(text)
	}
	for name, c := range map[string]struct {
		kind, before, after string
		code                int32
		message             string
	}{
		"an Agent of a cluster in its namespace": {"Agent", "", in(bound, "known", "Host"), 0, ""},
		"an Agent of another namespace's cluster": {
			"Agent", "", "spec: {clusterDeploymentName: {namespace: two, name: first}}", 400,
			"spec.clusterDeploymentName.namespace: require the Agent's namespace one, found two",
		},
		"an Agent that is given another namespace's token": {
			"Agent", "spec: {}", "spec: {ignitionEndpointTokenReference: {namespace: two, name: token}}", 400,
			"spec.ignitionEndpointTokenReference.namespace: require the Agent's namespace one, found two",
		},
		"a host that waits is bound elsewhere": {"Agent", in(bound, "known", "Host"), in(elsewhere, "known", "Host"), 0, ""},
		"a host that is installed is bound elsewhere": {
			"Agent", in(bound, "installed", "Host"), in(elsewhere, "installed", "Host"), 0, "",
		},
		"a host is bound elsewhere while it is installing": {
			"Agent", in(bound, "installing-in-progress", "Host"), in(elsewhere, "installing-in-progress", "Host"), 400,
			"spec.clusterDeploymentName: require one/first while the host is installing-in-progress, found one/second",
		},
		"a host is unbound while it prepares": {
			"Agent", in(bound, "preparing-successful", "Host"), in(unbound, "preparing-successful", "Host"), 400,
			"spec.clusterDeploymentName: require one/first while the host is preparing-successful, found none",
		},
		"a host of later days is unbound while it is installing": {
			"Agent", in(bound, "installing", "AddToExistingClusterHost"), in(unbound, "installing", "AddToExistingClusterHost"), 0, "",
		},
		"a host of later days is bound elsewhere while it is installing": {
			"Agent", in(bound, "installing", "AddToExistingClusterHost"), in(elsewhere, "installing", "AddToExistingClusterHost"), 400,
			"spec.clusterDeploymentName: require one/first while the host is installing, found one/second",
		},
		"an Agent that is deleted loses its cluster": {
			"Agent", in(bound, "installing", "Host"),
			"metadata: {deletionTimestamp: 2026-11-28T00:00:00Z}\n" + in(unbound, "installing", "Host"), 0, "",
		},
		"an Agent without a change": {"Agent", in(bound, "installing", "Host"), in(bound, "installing", "Host"), 0, ""},

		"an InfraEnv with a version": {"InfraEnv", "", "spec: {osImageVersion: '4.20'}", 0, ""},
		"an InfraEnv with a cluster and a version": {
			"InfraEnv", "", "spec: {clusterRef: {namespace: one, name: waiting}, osImageVersion: '4.20'}", 400,
			"spec: require clusterRef or osImageVersion, found both",
		},
		"an InfraEnv of an installed cluster is given a version": {
			"InfraEnv", "spec: {clusterRef: {namespace: one, name: installed}}",
			"spec: {clusterRef: {namespace: one, name: installed}, osImageVersion: '4.20'}", 0, "",
		},
		"an InfraEnv of a cluster that waits is given a version": {
			"InfraEnv", "spec: {clusterRef: {namespace: one, name: waiting}}",
			"spec: {clusterRef: {namespace: one, name: waiting}, osImageVersion: '4.20'}", 400,
			"spec.osImageVersion: require none until ClusterDeployment one/waiting is installed, found 4.20",
		},
		"an InfraEnv of a cluster that is gone is given a version": {
			"InfraEnv", "spec: {clusterRef: {namespace: one, name: gone}}",
			"spec: {clusterRef: {namespace: one, name: gone}, osImageVersion: '4.20'}", 400,
			"spec.osImageVersion: require none until ClusterDeployment one/gone is installed, found 4.20",
		},
		"an InfraEnv keeps its version": {
			"InfraEnv", "spec: {clusterRef: {namespace: one, name: gone}, osImageVersion: '4.20'}",
			"spec: {clusterRef: {namespace: one, name: gone}, osImageVersion: '4.21'}", 0, "",
		},

		"a single node": {"AgentClusterInstall", "", "spec: {provisionRequirements: {controlPlaneAgents: 1}}", 0, ""},
		"a single node whose network the cluster manages": {
			"AgentClusterInstall", "",
			"spec: {provisionRequirements: {controlPlaneAgents: 1}, networking: {userManagedNetworking: false}}", 409,
			"spec.networking.userManagedNetworking: require true, or none, with one control plane agent and no workers, found false",
		},
		"a control plane of one with a worker": {
			"AgentClusterInstall", "",
			"spec: {provisionRequirements: {controlPlaneAgents: 1, workerAgents: 1}, networking: {userManagedNetworking: false}}", 0, "",
		},
		"a cluster becomes a single node whose network it manages": {
			"AgentClusterInstall", "spec: {provisionRequirements: {controlPlaneAgents: 3}, networking: {userManagedNetworking: false}}",
			"spec: {provisionRequirements: {controlPlaneAgents: 1}, networking: {userManagedNetworking: false}}", 409,
			"spec.networking.userManagedNetworking: require true, or none, with one control plane agent and no workers, found false",
		},
		"a key before the installation": {
			"AgentClusterInstall", "spec: {sshPublicKey: a}" + waiting, "spec: {sshPublicKey: b}" + waiting, 0, "",
		},
		"no change during the installation": {
			"AgentClusterInstall", "spec: {sshPublicKey: a, compute: []}" + begun, "spec: {sshPublicKey: a}" + begun, 0, "",
		},
		"two fields during the installation": {
			"AgentClusterInstall", "spec: {sshPublicKey: a, networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}}" + begun,
			"spec: {sshPublicKey: b, networking: {machineNetwork: [{cidr: 198.51.100.0/24}]}}" + begun, 400,
			"spec: the installation has begun, require only clusterMetadata, ignitionEndpoint to change, " +
				"found spec.networking.machineNetwork, spec.sshPublicKey",
		},
		"a field is added and another taken away during the installation": {
			"AgentClusterInstall", "spec: {sshPublicKey: a}" + begun, "spec: {proxy: {httpProxy: 'http://a'}}" + begun, 400,
			"spec: the installation has begun, require only clusterMetadata, ignitionEndpoint to change, found spec.proxy, spec.sshPublicKey",
		},
		"metadata and endpoint during the installation": {
			"AgentClusterInstall", "spec: {}" + begun,
			"spec: {clusterMetadata: {clusterID: a, infraID: b}, ignitionEndpoint: {url: 'https://a'}}" + begun, 0, "",
		},
		"requirements during the installation": {
			"AgentClusterInstall", "spec: {provisionRequirements: {controlPlaneAgents: 3}}" + begun,
			"spec: {provisionRequirements: {controlPlaneAgents: 3, workerAgents: 2}}" + begun, 400,
			"spec: the installation has begun, require only clusterMetadata, ignitionEndpoint to change, " +
				"found spec.provisionRequirements.workerAgents",
		},
		"requirements after the installation": {
			"AgentClusterInstall", "spec: {provisionRequirements: {controlPlaneAgents: 3}}" + ended,
			"spec: {provisionRequirements: {controlPlaneAgents: 3, workerAgents: 2}}" + ended, 0, "",
		},
		"a key after an installation that failed": {
			"AgentClusterInstall", "spec: {sshPublicKey: a}" + failed, "spec: {sshPublicKey: b}" + failed, 400,
			"spec: the installation has begun, require only clusterMetadata, ignitionEndpoint, provisionRequirements to change, " +
				"found spec.sshPublicKey",
		},
		"a finalizer is removed during the installation": {
			"AgentClusterInstall", "metadata: {finalizers: [a]}\nspec: {}" + begun, "spec: {}" + begun, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, message := decide(t, c.kind, c.before, c.after)
			require.Equal(t, c.message, message)
			require.Equal(t, c.code, code)
		})
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	service := kube.ObjectKey{Namespace: "one", Name: "slipway"}
	at := func(listen, url string) webhook.Options {
		return webhook.Options{Listen: listen, URL: url, Namespace: "one"}
	}
	for message, o := range map[string]webhook.Options{
		"require a namespace for the Secret slipway-kube-webhook, found none":                   {Listen: ":9443", Service: service},
		`require an address to listen on such as :9443, found "9443"`:                           at("9443", "https://a"),
		`require an address to listen on such as :9443, found ":0"`:                             at(":0", "https://a"),
		`require an address such as https://192.0.2.5:9443, found "http://192.0.2.5"`:           at(":9443", "http://192.0.2.5"),
		`require an address such as https://192.0.2.5:9443, found "https://u:p@192.0.2.5"`:      at(":9443", "https://u:p@192.0.2.5"),
		`require an address such as https://192.0.2.5:9443, found "https://192.0.2.5:9443?a=b"`: at(":9443", "https://192.0.2.5:9443?a=b"),
		"require an address or a Service for the API server, found neither":                     at(":9443", ""),
	} {
		o.Now = time.Now
		_, err := webhook.New(o)
		require.EqualError(t, err, "webhook: "+message)
	}
	_, err := webhook.New(webhook.Options{Listen: "[::1]:9443", Service: service, Namespace: "one", Now: time.Now})
	require.NoError(t, err)
}
