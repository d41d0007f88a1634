package attack_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// reply makes the result of a step that no one asked for.
func reply(infraEnv, host, kind, output string) request {
	return post(address("/infra-envs/%s/hosts/%s/instructions", infraEnv, host), map[string]any{
		"step_type": kind, "step_id": kind + "-" + uuid.NewString()[:8], "exit_code": 0, "output": output, "error": "",
	})
}

// event makes an event about a cluster.
func event(cluster string) request {
	return post(v2+"/events", map[string]any{
		"cluster_id": cluster, "category": "user", "severity": "info", "name": "x", "message": "evil",
	})
}

// progress reports that a host is installed.
func progress(infraEnv, host string) request {
	return put(address("/infra-envs/%s/hosts/%s/progress", infraEnv, host), map[string]any{"current_stage": "Done"})
}

// discovered registers a host with the image that the attackers have, and reports an inventory whose texts are all the same.
func (w *target) discovered(t *testing.T, text string) (host, token string) {
	return w.discoveredIn(t, w.image, w.pool, text)
}

func (w *target) discoveredIn(t *testing.T, image, infraEnv, text string) (host, token string) {
	host, token = w.register(t, image, infraEnv)
	instructions := address("/infra-envs/%s/hosts/%s/instructions", infraEnv, host)
	var asked struct {
		Instructions []struct {
			ID   string `json:"step_id"`
			Type string `json:"step_type"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, secretKey(token), get(instructions)).body), &asked))
	inventory, _ := json.Marshal(map[string]any{
		"hostname": text, "bmc_address": text, "boot": map[string]any{"current_boot_mode": text}, "timestamp": 1,
		"system_vendor": map[string]any{"manufacturer": text, "product_name": text, "serial_number": text},
		"disks": []map[string]any{{
			"name": text, "path": "/dev/" + text, "id": text, "model": text, "size_bytes": 1 << 37, "drive_type": "SSD",
		}},
		"interfaces": []map[string]any{{"name": text, "mac_address": "52:54:00:00:00:01", "ipv4_addresses": []string{"192.168.113.20/24"}}},
		"cpu":        map[string]any{"count": 8, "architecture": "x86_64", "model_name": text},
		"memory":     map[string]any{"physical_bytes": 1 << 35, "usable_bytes": 1 << 35},
	})
	sent := false
	for _, step := range asked.Instructions {
		if step.Type == "inventory" {
			w.must(t, secretKey(token), post(instructions, map[string]any{
				"step_type": step.Type, "step_id": step.ID, "exit_code": 0, "output": string(inventory), "error": text,
			}))
			sent = true
		}
	}
	require.True(t, sent, "a new host is asked for its inventory")
	w.await(t, "a host that is discovered", func() (bool, string) {
		found := w.must(t, w.admin, get(address("/infra-envs/%s/hosts/%s", infraEnv, host)))
		return !strings.HasPrefix(found.field("status"), "discovering"), found.field("status_info")
	})
	return host, token
}

// bind gives a host to a cluster.
func bind(infraEnv, host, cluster string) request {
	return post(address("/infra-envs/%s/hosts/%s/actions/bind", infraEnv, host), map[string]any{"cluster_id": cluster})
}

func logs(cluster, infraEnv, host string) request {
	const packed = "\x1f\x8b\x08log\n" // begins as a gzip file does
	return upload(address("/clusters/%s/logs?logs_type=host&infra_env_id=%s&host_id=%s", cluster, infraEnv, host), packed)
}

// hostSpeaksForAnother registers a host with the image that the attackers have, and uses its token about the others of its InfraEnv.
func hostSpeaksForAnother(a *attempt) {
	own, token := a.discovered(a.T, "evil")
	a.must(a, a.alice, bind(a.pool, own, a.fresh))
	with := secretKey(a.step(secretKey(token), registration(a.pool, own)).header.Get("Slipway-Token"))
	for _, one := range []installation{a.done, a.busy} {
		for _, r := range []func(env, host, cluster string) request{
			func(env, host, _ string) request {
				return get(address("/infra-envs/%s/hosts/%s/instructions", env, host))
			},
			func(env, host, _ string) request { return reply(env, host, "inventory", `{"hostname":"evil"}`) },
			func(env, host, cluster string) request { return logs(cluster, env, host) },
		} {
			a.refused(with, r(a.pool, one.host, one.cluster), 401, 403, 404)
			a.control(with, r(a.pool, own, a.fresh))
		}
		a.refused(with, get(address("/infra-env/%s/hosts/%s/downloads/ignition", a.pool, one.host)), 403, 404)
		a.control(a.alice, get(address("/infra-env/%s/hosts/%s/downloads/ignition", a.pool, one.host)))
		a.refused(with, progress(a.pool, one.host), 403, 404)
		a.refused(with, get(address("/clusters/%s", one.cluster)), 404)
		a.refused(with, get(address("/clusters/%s/downloads/files?file_name=bootstrap.ign", one.cluster)), 403, 404)
		// Its own logs into a cluster that is not its own, and logs of another host into its own.
		a.refused(with, logs(one.cluster, a.pool, own), 404)
		a.refused(with, logs(a.fresh, a.pool, one.host), 403, 404)
	}
	mine := a.control(with, get(address("/clusters/%s", a.fresh)))
	require.NotContains(a, mine.body, proxyPassword, "THE ATTACK SUCCEEDED")
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", a.pool, own)))
}

// hostBecomesAnother registers other hosts with the token of one, and reports for them.
func hostBecomesAnother(a *attempt) {
	own, token := a.register(a, a.image, a.pool)
	for _, other := range []string{a.done.host, a.busy.host, uuid.NewString()} {
		got := a.refused(secretKey(token), registration(a.pool, other), 403, 404)
		require.Empty(a, got.header.Get("Slipway-Token"), "THE ATTACK SUCCEEDED")
		a.refused(secretKey(token), reply(a.pool, other, "inventory", `{"hostname":"evil"}`), 401, 403, 404)
		a.refused(secretKey(token), progress(a.pool, other), 401, 403, 404)
	}
	other := a.infraEnv(a, a.alice, "next-door", nil)
	a.refused(secretKey(token), registration(other, own), 401, 404)
	a.refused(secretKey(token), registration(a.foreignEnv, own), 401, 404)

	renewed := a.control(secretKey(token), registration(a.pool, own)).header.Get("Slipway-Token")
	a.refused(secretKey(token), get(address("/infra-envs/%s/hosts/%s/instructions", a.pool, own)), 401)
	a.control(secretKey(renewed), get(address("/infra-envs/%s/hosts/%s/instructions", a.pool, own)))
	a.control(secretKey(renewed), reply(a.pool, own, "inventory", `{"hostname":"mine"}`))
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", a.pool, own)))
}

// bootstrapHostAfterItsBoot reads with the token of the host that bootstrapped a cluster, which is installed, what the host that
// bootstraps another one may read.
func bootstrapHostAfterItsBoot(a *attempt) {
	others := []string{"master.ign", "worker.ign", "kubeconfig", "kubeconfig-noingress", "kubeadmin-password", "install-config.yaml"}
	for _, file := range append([]string{"bootstrap.ign"}, others...) {
		a.control(a.alice, get(a.fileOf(a.done, file)))
	}
	now, before := secretKey(a.tokenOf(a, a.busy)), secretKey(a.done.token)
	a.control(now, get(a.fileOf(a.busy, "bootstrap.ign")))
	for _, file := range others {
		a.refused(now, get(a.fileOf(a.busy, file)), 403)
		a.refused(now, get(a.fileOf(a.done, file)), 403, 404)
	}
	// The machine has left its token behind on the disk that was overwritten: whoever read it then has it now.
	a.refused(before, get(a.fileOf(a.done, "bootstrap.ign")), 401, 403)
	a.refused(before, get(a.fileOf(a.busy, "bootstrap.ign")), 401, 403, 404)
	a.refused(before, progress(a.pool, a.busy.host), 401, 403, 404)
	cluster := a.control(now, get(address("/clusters/%s", a.busy.cluster)))
	require.NotContains(a, cluster.body, hostPassword, "THE ATTACK SUCCEEDED")
	require.Empty(a, tokensIn(cluster.body), "THE ATTACK SUCCEEDED")
}

// fileOf returns the address of a file of a cluster.
func (w *target) fileOf(one installation, name string) string {
	kind := "files"
	if strings.HasPrefix(name, "kube") {
		kind = "credentials"
	}
	return address("/clusters/%s/downloads/%s?file_name=%s", one.cluster, kind, name)
}

// controllerOf finds the token of the controller of an installation where hosts and the new cluster have it; empty: nowhere yet.
func (a *attempt) controllerOf(one installation) (last string) {
	attempt := 0.0
	require.NoError(a, filepath.WalkDir(filepath.Join(a.dir, one.name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // machines remove files meanwhile
		}
		text, _ := os.ReadFile(path)
		for _, token := range anyToken.FindAllString(string(text), -1) {
			claims := claimsOf(token)
			if number, _ := claims["attempt"].(float64); claims["role"] == "controller" && number > attempt {
				attempt, last = number, token
			}
		}
		return nil
	}))
	return last
}

// controllerOfAFormerInstallation uses the token of a controller about other clusters, and about its own after it is installed or after
// the installation was cancelled and reset and begun again.
func controllerOfAFormerInstallation(a *attempt) {
	former, current := a.controllerOf(a.done), a.controllerOf(a.busy)
	require.NotEmpty(a, former)
	require.NotEmpty(a, current)
	late := []request{
		get(a.fileOf(a.busy, "kubeconfig-noingress")), get(a.fileOf(a.busy, "custom_manifests.json")),
		get(address("/clusters/%s/hosts", a.busy.cluster)),
	}
	reports := []request{
		event(a.busy.cluster),
		post(address("/clusters/%s/actions/complete-installation", a.busy.cluster), map[string]any{"is_success": true}),
		post(address("/clusters/%s/uploads/ingress-cert", a.busy.cluster), nil),
		progress(a.pool, a.busy.host),
	}
	for _, r := range append(late, reports...) {
		a.refused(secretKey(former), r, 400, 401, 403, 404)
	}
	for _, r := range late {
		a.control(secretKey(current), r)
	}
	a.refused(secretKey(current), get(a.fileOf(a.busy, "kubeconfig")), 403)
	a.refused(secretKey(current), get(a.fileOf(a.busy, "kubeadmin-password")), 403)
	a.refused(secretKey(current), get(a.fileOf(a.done, "kubeconfig-noingress")), 404)
	a.refused(secretKey(former), post(address("/clusters/%s/uploads/ingress-cert", a.done.cluster), nil), 400, 401, 403, 409)

	a.must(a, a.alice, post(address("/clusters/%s/actions/cancel", a.busy.cluster), nil))
	a.must(a, a.alice, post(address("/clusters/%s/actions/reset", a.busy.cluster), nil))
	// Clocks and names are looked at every few minutes only.
	a.must(a, a.alice, put(address("/clusters/%s/ignored-validations", a.busy.cluster), map[string]any{"host-validation-ids": `["all"]`}))
	a.bootAfterReset(a.busy)
	for _, r := range append(late, reports...) {
		a.refused(secretKey(current), r, 401)
	}
	a.must(a, a.alice, post(address("/clusters/%s/actions/install", a.busy.cluster), nil))
	a.await(a.T, "a controller of the second installation", func() (bool, string) {
		found := a.controllerOf(a.busy)
		return found != "" && found != current, a.must(a, a.alice, get(address("/clusters/%s", a.busy.cluster))).field("status_info")
	})
	next := a.controllerOf(a.busy)
	for _, r := range append(late, reports...) {
		a.refused(secretKey(current), r, 401)
	}
	for _, r := range late {
		a.control(secretKey(next), r)
	}
}

// statesOf lists the states of the hosts of a cluster.
func (w *target) statesOf(t require.TestingT, cluster string) (states []string) {
	var found []struct {
		Status string `json:"status"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, w.alice, get(address("/clusters/%s/hosts", cluster))).body), &found))
	for _, h := range found {
		states = append(states, h.Status)
	}
	return states
}

// bootAfterReset boots the machine of a cluster that was reset, and waits until that could be installed again.
func (a *attempt) bootAfterReset(one installation) {
	booted := false
	a.await(a.T, "the end of the reset", func() (bool, string) {
		states := a.statesOf(a, one.cluster)
		if !booted && slices.Contains(states, "resetting-pending-user-action") {
			booted = one.machine.Process.Signal(syscall.SIGUSR2) == nil // boots the live image
		}
		status := a.must(a, a.alice, get(address("/clusters/%s", one.cluster))).field("status")
		return status == "ready", status + fmt.Sprint(states)
	})
}
