// Package kube_test runs bin/slipway kube against an API server of Kubernetes and a service.
package kube_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admission "k8s.io/api/admissionregistration/v1"
	authentication "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/client"
	"slipway/internal/client/contexts"
	"slipway/internal/model"
	simhub "slipway/internal/sim/hub"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
	"slipway/test/hub"
)

// trial is a hub with the definitions, a service, and the program between them.
type trial struct {
	*hub.Hub
	kube    kube.Client
	service *client.Client
	account string // kubeconfig of the account that the program runs as
	data    string // of the service
	program *hub.Process
	// owner is the service as the program sees it, whose tenant has what resources define.
	owner   *client.Client
	metrics string // address of the program's metrics
	begun   time.Time
	// bootLive starts a machine that was booted last from the image once more.
	bootLive func(name string)
}

func start(t *testing.T) *trial {
	t.Helper()
	tr := startHub(t)
	tr.data = built.StartDemo(t, built.Binary(t), built.FreeAddress(t))
	tr.service = built.Administrator(t, tr.data)
	return tr
}

// startHub starts a hub with the definitions and a namespace.
func startHub(t *testing.T) *trial {
	t.Helper()
	program := built.Binary(t)
	h := hub.Start(t, "")
	printed, err := exec.Command(program, "kube", "crds").Output()
	require.NoError(t, err)
	ofHive, err := simhub.Definitions()
	require.NoError(t, err)
	definitions := append(documents(t, printed), documents(t, ofHive)...)
	require.Len(t, definitions, 7)
	h.Apply(t, "", definitions...)
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(
		corev1.AddToScheme(scheme), admission.AddToScheme(scheme), events.AddToScheme(scheme),
		agentinstall.AddToScheme(scheme), hiveext.AddToScheme(scheme), hive.AddToScheme(scheme),
	))
	tr := &trial{Hub: h, begun: time.Now()}
	await.True(t, func() bool {
		tr.kube, err = kube.New(h.Config, kube.Options{Scheme: scheme})
		return err == nil && tr.kube.List(t.Context(), &agentinstall.InfraEnvList{}) == nil
	}, "the definitions are not served")
	for _, name := range []string{"one", "slipway"} {
		require.NoError(t, tr.kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	tr.account = account(t, h)
	return tr
}

// account applies deploy/kube, and returns a kubeconfig of its account: the program has these rights alone.
func account(t *testing.T, h *hub.Hub) string {
	t.Helper()
	for _, name := range []string{"rbac", "deployment"} {
		content, err := os.ReadFile("../../deploy/kube/" + name + ".yaml")
		require.NoError(t, err)
		h.Apply(t, "slipway", documents(t, content)...)
	}
	request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	request, err := h.Client.CoreV1().ServiceAccounts("slipway").CreateToken(t.Context(), "slipway-kube", request, metav1.CreateOptions{})
	require.NoError(t, err)
	access, err := clientcmd.LoadFromFile(h.Kubeconfig)
	require.NoError(t, err)
	for name := range access.AuthInfos {
		access.AuthInfos[name] = &api.AuthInfo{Token: request.Status.Token}
	}
	path := filepath.Join(t.TempDir(), "account")
	require.NoError(t, clientcmd.WriteToFile(*access, path))
	return path
}

// documents reads the objects of a text in YAML.
func documents(t *testing.T, text []byte) (list []*unstructured.Unstructured) {
	t.Helper()
	reader := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := reader.Decode(object); err != nil {
			return list
		}
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
		list = append(list, object)
	}
}

// run starts the program with a token of its role: it has these rights alone.
func (tr *trial) run(t *testing.T, further ...string) {
	t.Helper()
	file, err := contexts.Read(filepath.Join(tr.data, contexts.AdminFile))
	require.NoError(t, err)
	admin, found := file.ByName("")
	require.True(t, found)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, admin.Authority, 0o600))
	token, err := tr.service.CreateToken(t.Context(), wire.UserTokenCreateParams{UserName: "hub", OrgID: "hub", Role: "kube"})
	require.NoError(t, err)
	carrier, err := client.TransportPEM(admin.Authority, false)
	require.NoError(t, err)
	tr.owner = client.New(client.Options{BaseURL: admin.Server, UserToken: model.Secret(token.Token), HTTPClient: carrier})
	arguments := append([]string{
		"kube", "--kubeconfig", tr.account, "--url", admin.Server, "--ca-file", authority,
		"--fetch-networks", "127.0.0.0/8",
	}, further...)
	command := exec.Command(built.Binary(t), arguments...) //nolint:gosec // the program under test
	command.Env = append(command.Environ(), "SLIPWAY_TOKEN="+token.Token)
	tr.program = hub.Run(t, "slipway kube", filepath.Join(t.TempDir(), "kube.log"), command)
}

func (tr *trial) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, syscall.Kill(tr.program.Process.Pid, syscall.SIGKILL))
	<-tr.program.Ended
}

func (tr *trial) env(t *testing.T) *agentinstall.InfraEnv {
	t.Helper()
	e := &agentinstall.InfraEnv{}
	require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "env"}, e))
	return e
}

// awaitCondition waits for a reason and a message of the only condition.
func (tr *trial) awaitCondition(t *testing.T, status corev1.ConditionStatus, reason, message string) *agentinstall.InfraEnv {
	t.Helper()
	var e *agentinstall.InfraEnv
	await.True(t, func() bool {
		e = tr.env(t)
		if len(e.Status.Conditions) != 1 {
			return false
		}
		c := e.Status.Conditions[0]
		return c.Type == "ImageCreated" && c.Status == status && c.Reason == reason && c.Message == message
	}, "InfraEnv is not "+reason+": "+message)
	return e
}

func (tr *trial) change(t *testing.T, fn func(*agentinstall.InfraEnvSpec)) {
	t.Helper()
	e := tr.env(t)
	before := e.DeepCopy()
	fn(&e.Spec)
	require.NoError(t, tr.kube.Patch(t.Context(), e, kube.MergeFrom(before)))
}

// found returns the InfraEnv of the service that the resource defines; nil: none.
func (tr *trial) found(t *testing.T) *wire.InfraEnv {
	t.Helper()
	list, err := tr.service.KubeObjects(t.Context())
	require.NoError(t, err)
	for _, o := range list {
		if o.Kind != "infra-env" {
			continue
		}
		require.Equal(t, "one/env", o.Namespace+"/"+o.Name)
		e, err := tr.service.InfraEnv(t.Context(), o.ID)
		require.NoError(t, err)
		return e
	}
	return nil
}

func (tr *trial) awaitService(t *testing.T, what string, holds func(*wire.InfraEnv) bool) *wire.InfraEnv {
	t.Helper()
	var e *wire.InfraEnv
	await.True(t, func() bool {
		e = tr.found(t)
		return e != nil && holds(e)
	}, what)
	return e
}

func secret(name, text string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name},
		StringData: map[string]string{corev1.DockerConfigJsonKey: text},
	}
}

const pullSecret = `{"auths":{"registry.example.com":{"auth":"dXNlcjpzZWNyZXQ="},"cloud.openshift.com":{"auth":"dXNlcjpzZWNyZXQ="}}}`

func network(name, mac string) *agentinstall.NMStateConfig {
	return &agentinstall.NMStateConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name, Labels: map[string]string{"site": "a"}},
		Spec: agentinstall.NMStateConfigSpec{
			Interfaces: []agentinstall.Interface{{Name: "eth0", MacAddress: mac}},
			NetConfig: runtime.RawExtension{Raw: []byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up",` +
				`"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`)},
		},
	}
}

// An InfraEnv from its creation to its deletion, with what users do to it meanwhile, and with the controllers killed in between.
func TestInfraEnvFollowsItsResource(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	require.NoError(t, tr.kube.Create(ctx, &agentinstall.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "env"},
		Spec: agentinstall.InfraEnvSpec{
			PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, AdditionalNTPSources: []string{"ntp.example.com"},
			NMStateConfigLabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"site": "a"}},
		},
	}))
	tr.awaitCondition(t, "False", "ImageCreationError", "Failed to create image: require Secret one/pull, found none")
	require.Nil(t, tr.found(t))
	require.NoError(t, tr.kube.Create(ctx, secret("pull", "no JSON")))
	tr.awaitCondition(t, "False", "ImageCreationError", "Failed to create image: "+refusedPullSecret(t, tr.service))
	pull := &corev1.Secret{}
	require.NoError(t, tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "pull"}, pull))
	require.Equal(t, "true", pull.Labels["agent-install.openshift.io/watch"])
	require.Equal(t, "true", pull.Labels["cluster.open-cluster-management.io/backup"])
	pull.Data = map[string][]byte{corev1.DockerConfigJsonKey: []byte(pullSecret)}
	require.NoError(t, tr.kube.Update(ctx, pull))

	e := tr.awaitCondition(t, "True", "ImageCreated", "Image has been created")
	made := tr.found(t)
	require.Equal(t, "env", made.Name)
	require.Equal(t, "ntp.example.com", made.AdditionalNtpSources)
	require.Equal(t, map[string]string{"infraenvs.agent-install.openshift.io": "env"}, e.Status.AgentLabelSelector.MatchLabels)
	require.Contains(t, e.Status.ISODownloadURL, "/x86_64/full.iso")
	require.Contains(t, e.Status.BootArtifacts.InitrdURL, made.ID.String())
	require.Contains(t, e.Status.InfraEnvDebugInfo.EventsURL, made.ID.String())
	require.Empty(t, e.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL)
	require.Equal(t, made.UpdatedAt.Time().Truncate(time.Second), e.Status.CreatedTime.UTC())

	// What the resource says is the service's, also what it says no longer; others change nothing.
	tr.change(t, func(s *agentinstall.InfraEnvSpec) {
		s.AdditionalNTPSources, s.Proxy = nil, &agentinstall.Proxy{HTTPProxy: "http://proxy.example.com:3128"}
	})
	tr.awaitService(t, "the settings are not changed", func(e *wire.InfraEnv) bool {
		return e.AdditionalNtpSources == "" && e.Proxy.HTTPProxy == "http://proxy.example.com:3128"
	})
	_, err := tr.service.UpdateInfraEnv(ctx, made.ID, wire.InfraEnvUpdateParams{AdditionalNtpSources: new("a")})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "is defined by InfraEnv one/env of Kubernetes")
	tr.change(t, func(s *agentinstall.InfraEnvSpec) { s.Proxy.HTTPProxy = "proxy" })
	await.True(t, func() bool { return tr.env(t).Status.Conditions[0].Reason == "ImageCreationError" }, "a bad proxy is taken")
	require.Empty(t, tr.env(t).Status.ISODownloadURL)
	tr.change(t, func(s *agentinstall.InfraEnvSpec) { s.Proxy = nil })
	tr.awaitCondition(t, "True", "ImageCreated", "Image has been created")

	// Networks come late, and in conflict.
	require.NoError(t, tr.kube.Create(ctx, network("a", "02:00:00:00:00:0a")))
	tr.awaitService(t, "the network does not come", func(e *wire.InfraEnv) bool { return len(e.StaticNetworkConfig) > 2 })
	await.True(t, func() bool { return tr.env(t).Status.InfraEnvDebugInfo.StaticNetworkDownloadURL != "" }, "the network has no address")
	require.NoError(t, tr.kube.Create(ctx, network("b", "02:00:00:00:00:0A")))
	tr.awaitCondition(t, "False", "ImageCreationError",
		"Failed to create image: NMStateConfigs a and b have the same MAC address 02:00:00:00:00:0a")
	require.NoError(t, tr.kube.Delete(ctx, network("b", "")))
	tr.awaitCondition(t, "True", "ImageCreated", "Image has been created")

	// Nothing is written while nothing changes, also by controllers that were killed and know nothing.
	before := tr.env(t)
	tr.kill(t)
	tr.run(t)
	require.NoError(t, tr.kube.Create(ctx, &agentinstall.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "second"},
		Spec: agentinstall.InfraEnvSpec{
			PullSecretRef: &corev1.LocalObjectReference{Name: "pull"},
			ClusterRef:    &agentinstall.ClusterReference{Namespace: "one", Name: "none"},
		},
	}))
	second := &agentinstall.InfraEnv{}
	await.True(t, func() bool { // the controllers work
		err := tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "second"}, second)
		return err == nil && len(second.Status.Conditions) == 1
	}, "the second InfraEnv has no condition")
	require.Equal(t, "MissingClusterDeployment", second.Status.Conditions[0].Reason)
	require.Equal(t, before.ResourceVersion, tr.env(t).ResourceVersion)

	// What changes while the controllers are away is followed afterwards.
	tr.kill(t)
	pull.Data[corev1.DockerConfigJsonKey] = []byte(strings.Replace(pullSecret, "registry.example.com", "other.example.com", 1))
	pull.ResourceVersion = ""
	require.NoError(t, tr.kube.Update(ctx, pull))
	updated := tr.found(t).UpdatedAt
	tr.run(t)
	tr.awaitService(t, "the new pull secret does not come", func(e *wire.InfraEnv) bool { return e.UpdatedAt != updated })

	// The resource goes once the service has forgotten its InfraEnv, and only then.
	require.ErrorIs(t, tr.service.DeleteInfraEnv(ctx, made.ID), model.ErrConflict)
	tr.kill(t)
	require.NoError(t, tr.kube.Delete(ctx, before))
	require.Equal(t, []string{"infraenv.agent-install.openshift.io/ai-deprovision"}, tr.env(t).Finalizers)
	require.NotNil(t, tr.found(t))
	tr.run(t)
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "env"}, &agentinstall.InfraEnv{}))
	}, "the resource is not deleted")
	require.Nil(t, tr.found(t))
	require.NoError(t, tr.kube.Delete(ctx, second))
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKeyFromObject(second), second))
	}, "an InfraEnv that never was is not deleted")
}

// refusedPullSecret returns what the service says of a pull secret that is no JSON.
func refusedPullSecret(t *testing.T, service *client.Client) string {
	t.Helper()
	_, err := service.RegisterInfraEnv(t.Context(), wire.InfraEnvCreateParams{Name: "a", PullSecret: "no JSON"})
	require.ErrorIs(t, err, model.ErrInvalid)
	return err.Error()
}

// The examples of the documentation are applied as they stand, twice: the second time nothing changes.
func TestExamplesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	tr := start(t)
	tr.run(t)
	text, err := os.ReadFile("../../docs/kube.md")
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		objects = append(objects, documents(t, block[1])...)
	}
	require.Len(t, objects, 7)
	for _, object := range objects {
		if object.GetKind() != "ClusterImageSet" { // it is of no namespace
			object.SetNamespace("one")
		}
	}
	tr.Apply(t, "one", objects...)
	e := &agentinstall.InfraEnv{}
	read := func() {
		require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "lab"}, e))
	}
	await.True(t, func() bool {
		read()
		made := len(e.Status.Conditions) == 1 && e.Status.Conditions[0].Status == "True"
		return made && e.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL != ""
	}, "the example has no image")
	cluster := &hiveext.AgentClusterInstall{}
	await.True(t, func() bool {
		require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "shop"}, cluster))
		// The release of the example is not one that the demo offers.
		list := cluster.Status.Conditions
		return len(list) > 0 && strings.Contains(list[0].Message, "ocp_release_image: require the image of")
	}, "the example of a cluster is not followed")
	version := e.ResourceVersion
	tr.Apply(t, "one", objects...)
	read()
	require.Equal(t, version, e.ResourceVersion)
}
