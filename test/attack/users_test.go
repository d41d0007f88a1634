package attack_test

import (
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// canaries are secrets that users of other roles do not see.
var canaries = []string{registryPassword, proxyPassword, discoveryFile, hostPassword, kernelPassword, manifestPassword}

// secretsIn lists the canaries and tokens of a text, also of what it has in base64.
func secretsIn(text string) (found []string) {
	for _, c := range canaries {
		if strings.Contains(text, c) {
			found = append(found, c)
		}
	}
	for _, encoded := range inBase64.FindAllString(text, -1) {
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			found = append(found, secretsIn(string(plain))...)
		}
	}
	return append(found, tokensIn(text)...)
}

// readable lists the addresses of both documents that can be read, about the objects of acme.
func (a *attempt) readable() (paths []string) {
	for file, base := range map[string]string{"../../api/openapi.yaml": "/api/assisted-install", "../../api/slipway.yaml": "/api/slipway"} {
		text, err := os.ReadFile(file)
		require.NoError(a, err)
		var document struct {
			Paths map[string]map[string]any `yaml:"paths"`
		}
		require.NoError(a, yaml.Unmarshal(text, &document))
		for path, methods := range document.Paths {
			reads, found := methods["get"]
			if !found {
				continue
			}
			declared := fmt.Sprint(reads)
			for _, cluster := range []string{a.done.cluster, a.busy.cluster, a.fresh} {
				filled := strings.NewReplacer("{cluster_id}", cluster, "{infra_env_id}", a.pool, "{host_id}", a.done.host).Replace(path)
				filled = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(filled, "mce")
				paths = append(paths, base+filled)
				for _, query := range []string{
					"?file_name=kubeconfig", "?file_name=bootstrap.ign", "?file_name=discovery.ign", "?file_name=install-config.yaml",
					"?cluster_id=" + cluster, "?infra_env_id=" + a.pool, "?with_hosts=true", "?folder=manifests&file_name=site.yaml",
					"?get_unregistered_clusters=true", "?logs_type=all",
				} {
					if name, _, _ := strings.Cut(query[1:], "="); strings.Contains(declared, "name:"+name) {
						paths = append(paths, base+filled+query)
					}
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// viewerReadsEverything reads each address as a viewer, and uses as a credential whatever looks like one.
func viewerReadsEverything(a *attempt) {
	// Tokens of their own: other chains are not held up by the requests of this one.
	viewer, owner := bearer(a.token(a, "walt", "viewer", "")), bearer(a.token(a, "alan", "user", "acme"))
	goal := get(a.fileOf(a.done, "kubeconfig"))
	a.refused(viewer, goal, 403)
	read, texts := 0, []string{}
	for _, path := range a.readable() {
		got := a.ask(a, viewer, get(path))
		require.Less(a, got.code, 500, "%s: %s", path, got.body)
		require.Empty(a, secretsIn(got.body), "THE ATTACK SUCCEEDED: a viewer reads a secret at %s", path)
		if got.code == http.StatusOK {
			read++
			texts = append(texts, regexp.MustCompile(`[\w.+/=-]{16,}`).FindAllString(got.body, -1)...)
		}
	}
	require.Greater(a, read, 60, "a viewer reads")
	a.steps += read
	slices.Sort(texts)
	texts = slices.Compact(texts)
	ids := slices.DeleteFunc(texts, func(text string) bool { return !anyID.MatchString(text) && len(text) < 30 })
	ids = ids[:min(len(ids), 150)]
	for _, text := range ids {
		for _, c := range []credential{bearer(text), secretKey(text)} {
			require.Equal(a, 401, a.ask(a, c, goal).code, "THE ATTACK SUCCEEDED with %s", text)
		}
	}
	a.stopped("401 with each of %d texts of %d answers", len(ids), read)
	found := map[string]bool{}
	for _, path := range a.readable() {
		for _, secret := range secretsIn(a.ask(a, owner, get(path)).body) {
			found[secret] = true
		}
	}
	for _, c := range canaries {
		require.True(a, found[c], "the search finds %s with the owner's token", c)
	}
	a.control(owner, goal)
}

// viewerPromotesHimself makes tokens and addresses of his own.
func viewerPromotesHimself(a *attempt) {
	listed := a.step(a.viewer, get(own+"/tokens"))
	var tokens []struct{ ID, Role string }
	require.NoError(a, json.Unmarshal([]byte(listed.body), &tokens))
	require.NotEmpty(a, tokens)
	admins := ""
	for _, token := range tokens {
		a.refused(bearer(token.ID), get(v2+"/clusters"), 401)
		if token.Role == "admin" {
			admins = token.ID
		}
	}
	require.NotEmpty(a, admins)
	make := post(own+"/tokens", map[string]any{"user_name": "victor", "role": "admin"})
	a.refused(a.viewer, make, 403)
	for _, method := range []string{"PUT", "PATCH"} {
		a.refused(a.viewer, withJSON(method, own+"/tokens/"+admins, map[string]any{"role": "admin"}), 404, 405)
	}
	a.refused(a.viewer, remove(own+"/tokens/"+admins), 403, 404)
	a.refused(a.viewer, post(own+"/sign-in", nil), 403, 409)
	for _, r := range []request{
		get(address("/clusters/%s/downloads/credentials-presigned?file_name=kubeconfig", a.done.cluster)),
		get(address("/clusters/%s/downloads/files-presigned?file_name=bootstrap.ign", a.done.cluster)),
		get(address("/infra-envs/%s/downloads/files-presigned?file_name=discovery.ign", a.pool)),
		get(address("/infra-envs/%s/downloads/image-url", a.pool)), get(address("/infra-envs/%s", a.pool)),
		get(own + "/infra-envs/" + a.pool + "/boot-artifacts"), get(address("/clusters/%s/credentials", a.done.cluster)),
		get(address("/clusters/%s/install-config", a.fresh)),
	} {
		a.refused(a.viewer, r, 403)
		a.control(a.alice, r)
	}
	header, payload, signature := cut(a.viewer.value)
	forged := claimsOf(header + "." + payload + "." + signature)
	for name := range forged {
		if text, isText := forged[name].(string); isText && text == "viewer" {
			forged[name] = "admin"
		}
	}
	for _, token := range []string{
		header + "." + encodeClaims(forged) + "." + signature,
		encodeClaims(map[string]any{"alg": "none", "typ": "JWT"}) + "." + encodeClaims(forged) + ".",
		encodeClaims(map[string]any{"alg": "HS256", "typ": "JWT"}) + "." + encodeClaims(forged) + "." + signature,
	} {
		a.refused(bearer(token), make, 401)
	}
	a.control(a.admin, make)
}

func cut(token string) (header, payload, signature string) {
	parts := strings.Split(strings.TrimPrefix(token, "Bearer "), ".")
	return parts[0], parts[1], parts[2]
}

// tenantRefersToForeignObjects names objects of another tenant in requests about its own ones, and looks whether it reads them then.
func tenantRefersToForeignObjects(a *attempt) {
	host, token := a.discoveredIn(a.T, a.imageOf(a, a.mallory, a.foreignEnv), a.foreignEnv, "mine")
	victim, _ := a.discovered(a.T, "victim")
	for _, r := range []request{
		bind(a.pool, victim, a.foreign), bind(a.foreignEnv, victim, a.foreign), bind(a.foreignEnv, host, a.fresh),
		bind(a.pool, a.done.host, a.foreign),
		post(v2+"/infra-envs", map[string]any{"name": "mine", "pull_secret": a.pullSecret, "cluster_id": a.fresh}),
		post(address("/infra-envs/%s/hosts/%s/actions/unbind", a.pool, a.done.host), nil),
		patch(address("/infra-envs/%s", a.pool), map[string]any{"ssh_authorized_key": ""}),
		patch(address("/clusters/%s", a.fresh), map[string]any{"name": "mine"}),
		post(own+"/clusters/"+a.busy.cluster+"/commands/cancel", nil),
		post(own+"/infra-envs/"+a.pool+"/hosts/"+a.done.host+"/commands/reclaim", nil),
		post(own+"/clusters/"+a.busy.cluster+"/undelete", nil),
		post(address("/clusters/%s/actions/cancel", a.busy.cluster), nil), post(address("/clusters/%s/actions/reset", a.busy.cluster), nil),
		post(address("/clusters/%s/actions/allow-add-hosts", a.done.cluster), nil),
		remove(address("/clusters/%s", a.fresh)), remove(address("/infra-envs/%s/hosts/%s", a.pool, victim)),
		get(address("/clusters/%s/downloads/credentials-presigned?file_name=kubeconfig", a.done.cluster)),
		get(address("/clusters/%s/logs", a.done.cluster)), get(address("/events?cluster_id=%s", a.done.cluster)),
		get(address("/events?infra_env_id=%s", a.pool)),
		get(address("/infra-env/%s/hosts/%s/downloads/ignition", a.pool, a.done.host)),
		get(address("/infra-envs/%s/hosts/%s", a.foreignEnv, a.done.host)),
	} {
		a.refused(a.mallory, r, 403, 404)
	}
	a.refused(a.mallory, event(a.done.cluster), 401, 403)
	imported := a.ask(a, a.mallory, post(v2+"/clusters/import", map[string]any{
		"name": "done", "openshift_version": release, "api_vip_dnsname": "api.done.example.com", "openshift_cluster_id": uuid.NewString(),
	}))
	if imported.code < 300 { // a cluster of its own, of whatever name
		a.steps++
		a.refused(a.mallory, get(address("/clusters/%s/downloads/credentials?file_name=kubeconfig", imported.field("id"))), 403, 404, 409)
	}
	a.control(a.mallory, bind(a.foreignEnv, host, a.foreign))
	again := a.must(a, secretKey(token), registration(a.foreignEnv, host)).header.Get("Slipway-Token")
	a.control(secretKey(again), get(address("/clusters/%s", a.foreign)))
	a.control(a.alice, bind(a.pool, victim, a.fresh))
	ofAcme := []string{a.done.cluster, a.busy.cluster, a.fresh, a.pool, a.done.host, a.busy.host, victim, "alice", "acme"}
	for _, path := range []string{
		v2 + "/clusters?with_hosts=true", v2 + "/infra-envs", v2 + "/events",
		address("/clusters/%s", a.foreign), address("/infra-envs/%s", a.foreignEnv),
		own + "/tokens", own + "/deleted-clusters", own + "/changes", own + "/kube-objects", address("/events?cluster_id=%s", a.foreign),
		address("/events?host_id=%s&infra_env_id=%s", a.done.host, a.foreignEnv), address("/events?host_id=%s", a.done.host),
	} {
		got := a.ask(a, a.mallory, get(path))
		for _, text := range ofAcme {
			require.NotContains(a, got.body, text, "THE ATTACK SUCCEEDED: %s", path)
		}
	}
	a.stopped("nothing of acme in what globex reads")
	require.Contains(a, a.control(a.alice, get(v2+"/clusters?with_hosts=true")).body, a.done.cluster)
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", a.pool, victim)))
}

// tenantUsesItsAddressForForeignImages replaces the key of another tenant's image, and opens that image with an address of its own.
func tenantUsesItsAddressForForeignImages(a *attempt) {
	theirs, image := a.addressOf(a, a.mallory, a.foreignEnv), a.imageOf(a, a.mallory, a.foreignEnv)
	before := a.addressOf(a, a.alice, a.pool)
	a.refused(a.mallory, post(address("/infra-envs/%s/regenerate-signing-key", a.pool), nil), 404)
	a.refused(a.mallory, remove(address("/infra-envs/%s", a.pool)), 404)
	a.control(credential{}, get(address("/infra-envs/%s/downloads/files?file_name=discovery.ign&api_key=%s", a.pool, before)))
	for _, path := range []string{
		address("/infra-envs/%s/downloads/files?file_name=discovery.ign&api_key=%s", a.pool, theirs),
		address("/infra-envs/%s/downloads/minimal-initrd?api_key=%s", a.pool, theirs),
		address("/infra-envs/%s/downloads/files?file_name=discovery.ign&image_token=%s", a.pool, theirs),
		fmt.Sprintf("/byid/%s/4.20/x86_64/full.iso?api_key=%s", a.pool, theirs), fmt.Sprintf("/byid/%s/4.20/x86_64/full.iso", a.pool),
		fmt.Sprintf("/images/%s?version=4.20&arch=x86_64&type=full-iso&api_key=%s", a.pool, theirs),
		fmt.Sprintf("/images/%s/pxe-initrd?version=4.20&arch=x86_64&image_token=%s", a.pool, theirs),
		fmt.Sprintf("/bytoken/%s/4.20/x86_64/full.iso", theirs), fmt.Sprintf("/bytoken/%s/4.20/x86_64/full.iso", a.image),
		fmt.Sprintf("/byapikey/%s/4.20/x86_64/full.iso", a.image), fmt.Sprintf("/byapikey/%s/4.20/x86_64/full.iso", image),
		fmt.Sprintf("/byapikey/%s/../%s/4.20/x86_64/full.iso", theirs, a.pool),
	} {
		a.refused(credential{}, get(path), 400, 401, 403, 404)
	}
	a.refused(secretKey(image), registration(a.pool, a.done.host), 401, 404)
	a.control(credential{}, get(address("/infra-envs/%s/downloads/files?file_name=discovery.ign&api_key=%s", a.foreignEnv, theirs)))
}

// tokenLivesOnInWhatItMade ends a token, and uses the session and the addresses that were made with it.
func tokenLivesOnInWhatItMade(a *attempt) {
	made := a.must(a, a.admin, post(own+"/tokens", map[string]any{"user_name": "eve", "role": "admin"}))
	eve, id := made.field("token"), made.field("id")
	cookie := a.session(a, eve)
	pages := get("/temporal/api/v1/namespaces")
	asking := get(address("/clusters/%s/downloads/credentials-presigned?file_name=kubeconfig", a.done.cluster))
	presigned := a.step(bearer(eve), asking).field("url")
	discovery := a.step(bearer(eve), get(address("/infra-envs/%s/downloads/files-presigned?file_name=discovery.ign", a.pool))).field("url")
	a.step(bearer(eve), pages)
	a.control(cookie, pages)
	a.control(credential{}, get(presigned))
	a.control(credential{}, get(discovery))
	a.must(a, a.admin, remove(own+"/tokens/"+id))
	a.refused(bearer(eve), get(v2+"/clusters"), 401)
	a.refused(bearer(eve), post(own+"/tokens", map[string]any{"user_name": "eve", "role": "admin"}), 401)
	a.refused(cookie, pages, 401)
	a.refused(cookie, get(v2+"/clusters"), 401)
	a.refused(credential{}, get(presigned), 401)
	a.refused(credential{}, get(discovery), 401)
	still := a.control(a.alice, asking).field("url")
	a.control(credential{}, get(still))
}

// The requests of a viewer's token that are answered at once, and each second (docs/roles.md does not say them: operators read 429).
const (
	atOnce     = 500
	eachSecond = 100
)

// tokenInOtherWritingsIsCountedAnew writes one token in many ways, to have more requests answered than it may.
func tokenInOtherWritingsIsCountedAnew(a *attempt) {
	token := a.token(a, "flo", "viewer", "")
	goal := get(v2 + "/release-sources")
	header, payload, signature := cut(token)
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	require.NoError(a, err)
	// The other signature of the same text: of s and the order of the curve minus s, both are valid.
	s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(raw[32:]))
	mirrored := append(slices.Clone(raw[:32]), s.FillBytes(make([]byte, 32))...)
	twin := header + "." + payload + "." + base64.RawURLEncoding.EncodeToString(mirrored)
	writings := []credential{
		bearer(token), bearer(twin), bearer(" " + token), bearer("   " + token), {"Authorization", token}, {"Authorization", twin},
	}
	for _, c := range writings[:2] {
		a.step(c, goal)
	}
	answered, refused, most := a.flood(writings, goal)
	require.LessOrEqual(a, answered, most, "THE ATTACK SUCCEEDED: writings of one token are counted apart")
	a.stopped("429 for %d of %d requests in %d writings", refused, answered+refused, len(writings))
	a.control(a.viewer, goal) // others are answered meanwhile
}

// flood sends requests with all credentials from several connections, and returns how many were answered, how many refused, and how many
// one credential has answered in that time at most.
func (a *attempt) flood(with []credential, r request) (answered, refused, most int) {
	const connections, each = 8, 450
	var ok, tooMany atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for n := range connections {
		group.Go(func() {
			for i := range each {
				switch code := a.once(a, with[(n+i)%len(with)], r).code; code {
				case http.StatusOK:
					ok.Add(1)
				case http.StatusTooManyRequests:
					tooMany.Add(1)
				default:
					a.Errorf("%s: %d", r, code)
				}
			}
		})
	}
	group.Wait()
	return int(ok.Load()), int(tooMany.Load()), atOnce + eachSecond*int(time.Since(began).Seconds()+1)
}
