package operators_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// setupJob lists the fields of a Job that sets an operator up, the same for each of them, and the rules of its role
// (internal/operators/kmm and internal/operators/openshiftai of openshift/assisted-service).
func setupJob(operator, namespace, role, rules string) []field {
	return []field{
		{"ServiceAccount/setup", "metadata.namespace", namespace},
		{"ClusterRole/" + role, "rules", rules},
		{"ClusterRoleBinding/" + role, "roleRef", "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}"},
		{"ClusterRoleBinding/" + role, "subjects", "[{kind: ServiceAccount, name: setup, namespace: " + namespace + "}]"},
		{"Job/setup", "metadata.namespace", namespace},
		{"Job/setup", "metadata.labels", "{agent-install.openshift.io/setup-job: " + operator + "}"},
		{"Job/setup", "spec.template.spec.serviceAccountName", "setup"},
		{"Job/setup", "spec.template.spec.restartPolicy", "Never"},
		{"Job/setup", "spec.template.spec.containers.0.name", "setup"},
		{"Job/setup", "spec.template.spec.containers.0.image", cliImage},
		{"Job/setup", "spec.template.spec.containers.0.command", "[/usr/bin/bash, -c]"},
	}
}

const (
	kmmRules = `
- {apiGroups: [""], resources: [secrets, configmaps], verbs: [create, get, list, patch, update, watch]}
- {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get, list, watch]}
- {apiGroups: [objectbucket.io], resources: [objectbuckets], verbs: [get, list, watch]}
- {apiGroups: [objectbucket.io], resources: [objectbucketclaims], verbs: [create, get, list, patch, update, watch]}
- {apiGroups: [imageregistry.operator.openshift.io], resources: [configs], verbs: [get, list, patch, update, watch]}`
	aiRules = `
- {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get, list, patch, update, watch]}`
)

var noJob = []field{{"Job/setup", "-", ""}, {"ServiceAccount/setup", "-", ""}, {"ClusterRole/openshift-kmm-setup", "-", ""}}

var setupCases = []renderCase{
	{
		"gets a registry with object storage",
		[]string{"kmm", "odf"},
		(*fixture).released,
		setupJob("kmm", "openshift-kmm", "openshift-kmm-setup", kmmRules),
	},
	{"waits for no storage that never comes", []string{"kmm"}, (*fixture).released, noJob},
	{"names no image without a release", []string{"kmm", "odf"}, nil, noJob},
	{
		"gets a default storage class",
		[]string{"openshift-ai", "odf"},
		(*fixture).released,
		setupJob("openshift-ai", "redhat-ods-operator", "redhat-ods-operator-setup", aiRules),
	},
	{"leaves the class of volume groups, which is the default", []string{"openshift-ai", "lvm"}, func(w *fixture) {
		w.single()
		w.released()
	}, noJob},
	{"leaves storage to the user who chose none", []string{"openshift-ai"}, (*fixture).released, noJob},
}

func TestSetupJobs(t *testing.T) {
	t.Parallel()
	runRenderCases(t, setupCases, func(day1, _ rendered) rendered { return day1 })
}

// oc answers like the client of a cluster where each thing is missing when it is first asked for. It writes its
// arguments, and what it reads, to a file.
const oc = `#!/bin/bash
echo "oc $*" >> "$LOG"
if [[ "$*" == *"apply -f -"* ]]; then cat >> "$LOG"; fi
tried="$LOG.$(echo "$*" | md5sum | cut -c 1-32)"
if [[ ! -e $tried ]]; then touch "$tried"; exit 1; fi
case "$*" in
*"objectbucketclaim registry"*status.phase*) echo Bound ;;
*"objectbucketclaim registry"*spec.bucketName*) echo registry-1234 ;;
*"objectbucketclaim registry"*spec.objectBucketName*) echo obc-registry ;;
*"objectbucket obc-registry"*) echo rook-ceph-rgw.openshift-storage.svc ;;
*"secret registry"*AWS_ACCESS_KEY_ID*) printf key-id | base64 ;;
*"secret registry"*AWS_SECRET_ACCESS_KEY*) printf 'very secret' | base64 ;;
*"configmap openshift-service-ca.crt"*) printf '%s\n' '-----BEGIN CERTIFICATE-----' MIIB '-----END CERTIFICATE-----' ;;
*"create "*"--dry-run=client"*) printf '%s\n' "made: $*" ;;
esac
`

// runSetup runs the script of a setup job against that client; sleep returns at once.
func runSetup(t *testing.T, operator string) (log, output string) {
	t.Helper()
	w := newWorld()
	w.released()
	w.choose(operator, "odf")
	day1, _ := render(t, w)
	args, found, err := unstructured.NestedSlice(day1["Job/setup"].Object, "spec", "template", "spec", "containers")
	require.NoError(t, err)
	require.True(t, found)
	script, _, err := unstructured.NestedStringSlice(args[0].(map[string]any), "args")
	require.NoError(t, err)
	require.Len(t, script, 1)

	dir := t.TempDir()
	for name, text := range map[string]string{"oc": oc, "sleep": "#!/bin/bash\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	c := exec.CommandContext(ctx, "/usr/bin/bash", "-c", script[0])
	c.Env = []string{fmt.Sprintf("PATH=%s:%s", dir, os.Getenv("PATH")), "LOG=" + filepath.Join(dir, "log")}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	return string(data), string(out)
}

func TestSetupOfKMMConfiguresTheRegistry(t *testing.T) {
	t.Parallel()
	log, output := runSetup(t, "kmm")
	require.NotContains(t, output, "very secret")
	require.GreaterOrEqual(t, strings.Count(log, "get storageclass ocs-storagecluster-ceph-rgw"), 2, "asked until it is there")
	claim := strings.Index(log, "kind: ObjectBucketClaim")
	require.Positive(t, claim)
	for _, text := range []string{
		"name: registry", "namespace: openshift-image-registry", "storageClassName: ocs-storagecluster-ceph-rgw",
		"generateBucketName: registry",
	} {
		require.Contains(t, log[claim:], text)
	}
	require.Contains(t, log, "made: create secret generic image-registry-private-configuration-user -n openshift-image-registry "+
		"--from-literal=REGISTRY_STORAGE_S3_ACCESSKEY=key-id --from-literal=REGISTRY_STORAGE_S3_SECRETKEY=very secret --dry-run=client -o yaml")
	require.Contains(t, log, "made: create configmap registry-ca -n openshift-config "+
		"--from-literal=ca-bundle.crt=-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE----- --dry-run=client -o yaml")
	patch := log[strings.LastIndex(log, "oc patch configs.imageregistry.operator.openshift.io cluster --type merge -p "):]
	_, spec, _ := strings.Cut(patch, " -p ")
	require.JSONEq(t, `{"spec": {
		"managementState": "Managed", "disableRedirect": true, "replicas": 2,
		"storage": {"managementState": "Unmanaged", "s3": {
			"bucket": "registry-1234", "region": "us-east-1", "regionEndpoint": "https://rook-ceph-rgw.openshift-storage.svc",
			"virtualHostedStyle": false, "encrypt": false, "trustedCA": {"name": "registry-ca"}
		}}
	}}`, spec)
}

func TestSetupOfModelsMakesTheStorageClassTheDefault(t *testing.T) {
	t.Parallel()
	log, _ := runSetup(t, "openshift-ai")
	const annotated = "oc annotate storageclass ocs-storagecluster-ceph-rbd --overwrite storageclass.kubernetes.io/is-default-class=true\n"
	require.Equal(t, annotated+annotated, log)
}
