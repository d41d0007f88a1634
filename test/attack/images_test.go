package attack_test

import (
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

// imageTakesInstalledCluster registers the hosts of clusters with the token of their image, to get their tokens and with these what the
// bootstrap host may read.
func imageTakesInstalledCluster(a *attempt) {
	image := secretKey(a.image)
	events := address("/events?infra_env_id=%s", a.pool)
	a.refused(credential{}, get(events+"&api_key="+a.image), 401)
	a.control(a.alice, get(events))
	for _, one := range []installation{a.done, a.busy} {
		// Machines print the ids of hosts.
		got := a.step(image, registration(a.pool, one.host))
		if token := got.header.Get("Slipway-Token"); token != "" {
			a.Fatalf("THE ATTACK SUCCEEDED: the image has the token of %s, %v", one.name, claimsOf(token))
		}
		a.stopped("no token of the host of %s", one.name)
		instructions := address("/infra-envs/%s/hosts/%s/instructions", a.pool, one.host)
		if poll := a.ask(a, image, get(instructions)); poll.code < 300 {
			require.Contains(a, poll.body, `"instructions":[]`, "THE ATTACK SUCCEEDED")
		}
	}
	own, token := a.register(a, a.image, a.pool)
	a.control(secretKey(token), get(address("/infra-envs/%s/hosts/%s/instructions", a.pool, own)))
	for _, with := range []credential{image, secretKey(token)} {
		for _, file := range []string{
			"files?file_name=bootstrap.ign", "credentials?file_name=kubeconfig", "credentials?file_name=kubeconfig-noingress",
		} {
			a.refused(with, get(address("/clusters/%s/downloads/%s", a.done.cluster, file)), 403, 404)
			a.control(a.alice, get(address("/clusters/%s/downloads/%s", a.done.cluster, file)))
		}
	}
}

// addressOf returns the token in the address of an image.
func (w *target) addressOf(t require.TestingT, c credential, infraEnv string) string {
	got := w.must(t, c, get(address("/infra-envs/%s/downloads/image-url", infraEnv)))
	tokens := anyToken.FindAllString(got.field("url"), -1)
	require.Len(t, tokens, 1, "an address has a token")
	return tokens[0]
}

// imageProlongsItsAddress looks for another address with its own, and for passwords beside it, and uses both after the key
// of the InfraEnv was replaced.
func imageProlongsItsAddress(a *attempt) {
	env := a.infraEnv(a, a.alice, "lent", map[string]any{
		"proxy": map[string]any{"http_proxy": "http://ann:" + proxyPassword + "@192.0.2.9:3128"},
	})
	image, key := a.imageOf(a, a.alice, env), a.addressOf(a, a.alice, env)
	host, hostToken := a.register(a, image, env)
	infraEnv, files := address("/infra-envs/%s?api_key=", env), address("/infra-envs/%s/downloads/files?file_name=discovery.ign&api_key=", env)
	for _, r := range []string{infraEnv, files} {
		a.refused(credential{}, get(r+image), 401)
	}
	seen := a.step(credential{}, get(infraEnv+key))
	require.Empty(a, tokensIn(seen.body), "THE ATTACK SUCCEEDED: an address has another one")
	require.NotContains(a, seen.body, proxyPassword, "THE ATTACK SUCCEEDED")
	a.stopped("no other address in the InfraEnv")
	shown := a.control(a.alice, get(address("/infra-envs/%s", env)))
	require.NotEmpty(a, tokensIn(shown.body), "the owner has an address")
	require.Contains(a, shown.body, proxyPassword)
	a.refused(credential{}, get(address("/infra-envs/%s/downloads/image-url?api_key=%s", env, key)), 401)
	a.refused(credential{}, get(address("/events?infra_env_id=%s&api_key=%s", env, key)), 401, 403)

	a.control(credential{}, get(files+key))
	a.must(a, a.alice, post(address("/infra-envs/%s/regenerate-signing-key", env), nil))
	for _, token := range []string{key, image, hostToken} {
		a.refused(credential{}, get(infraEnv+token), 401)
		a.refused(credential{}, get(files+token), 401)
		a.refused(secretKey(token), registration(env, host), 401)
		a.refused(secretKey(token), get(address("/infra-envs/%s/hosts/%s/instructions", env, host)), 401)
	}
	a.control(credential{}, get(files+a.addressOf(a, a.alice, env)))
	a.control(secretKey(a.imageOf(a, a.alice, env)), registration(env, host))
}

// imageOfADeletedEnvironment uses the image, and the token of a host of it, after the InfraEnv was deleted and one of its name was made.
func imageOfADeletedEnvironment(a *attempt) {
	env := a.infraEnv(a, a.alice, "short-lived", nil)
	image, key := a.imageOf(a, a.alice, env), a.addressOf(a, a.alice, env)
	host, token := a.register(a, image, env)
	poll := func(env string) request { return get(address("/infra-envs/%s/hosts/%s/instructions", env, host)) }
	a.control(secretKey(token), poll(env))
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", env, host)))
	a.refused(secretKey(token), poll(env), 401, 404)
	a.refused(secretKey(token), registration(env, host), 401, 403, 404)
	a.refused(secretKey(image), registration(env, host).with("Slipway-Registration", "again"), 404)
	a.control(secretKey(image), registration(env, host))
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", env, host)))
	a.must(a, a.alice, remove(address("/infra-envs/%s", env)))
	a.refused(secretKey(image), registration(env, host), 401, 404)
	again := a.infraEnv(a, a.alice, "short-lived", nil)
	for _, old := range []string{image, token} {
		a.refused(secretKey(old), registration(again, host), 401, 404)
		a.refused(secretKey(old), poll(again), 401, 404)
	}
	a.refused(credential{}, get(address("/infra-envs/%s/downloads/files?file_name=discovery.ign&api_key=%s", again, key)), 401, 404)
	a.control(secretKey(a.imageOf(a, a.alice, again)), registration(again, host))
}

// addressOpensOtherThings sends the token in an address in other places, and for other objects.
func addressOpensOtherThings(a *attempt) {
	key := a.addressOf(a, a.alice, a.pool)
	file := address("/infra-envs/%s/downloads/files?file_name=discovery.ign", a.pool)
	a.control(credential{}, get(file+"&api_key="+key))
	for _, c := range []credential{
		bearer(key), secretKey(key), {"Cookie", "session=" + key}, {"Watcher-Authorization", key}, {"Image-Token", key},
	} {
		a.refused(c, get(address("/infra-envs/%s", a.pool)), 401)
		a.refused(c, get(v2+"/clusters"), 401)
		a.refused(c, get(address("/clusters/%s/downloads/credentials?file_name=kubeconfig", a.done.cluster)), 401)
	}
	a.refused(secretKey(key), registration(a.pool, a.done.host), 401)
	for _, more := range []string{
		"/infra-envs/" + a.foreignEnv + "/downloads/files?file_name=discovery.ign",
		"/clusters/" + a.done.cluster + "/downloads/files?file_name=bootstrap.ign",
		"/clusters/" + a.done.cluster + "/logs", "/events?cluster_id=" + a.done.cluster,
	} {
		separator := "&"
		if !strings.Contains(more, "?") {
			separator = "?"
		}
		a.refused(credential{}, get(v2+more+separator+"api_key="+key), 401, 403, 404)
	}
	a.control(a.alice, get(address("/events?cluster_id=%s", a.done.cluster)))
}

// signedAddressOpensAnother changes a signed address that opens one file.
func signedAddressOpensAnother(a *attempt) {
	made := a.control(a.alice, get(address("/clusters/%s/downloads/files-presigned?file_name=metadata.json", a.done.cluster))).field("url")
	u, err := url.Parse(made)
	require.NoError(a, err)
	signature := u.Query().Get("signature")
	a.control(credential{}, get(made))
	base := address("/clusters/%s/downloads/", a.done.cluster)
	signed := "&signature=" + url.QueryEscape(signature)
	for _, changed := range []string{
		base + "credentials?file_name=kubeconfig" + signed, base + "files?file_name=bootstrap.ign" + signed,
		base + "files?file_name=metadata.json&file_name=bootstrap.ign" + signed,
		base + "files?file_name=bootstrap.ign&file_name=metadata.json" + signed,
		address("/clusters/%s/downloads/files?file_name=metadata.json", a.busy.cluster) + signed,
		base + "files/?file_name=metadata.json" + signed + "&x=1", address("/clusters?x=1") + signed,
		address("/infra-envs/%s/downloads/files?file_name=discovery.ign", a.pool) + signed,
	} {
		a.refused(credential{}, get(changed), 400, 401, 404)
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		a.refused(credential{}, request{method: method, path: u.RequestURI()}, 401, 405)
	}
	for _, c := range []credential{bearer(signature), secretKey(signature), {"Cookie", "session=" + signature}, {"Image-Token", signature}} {
		a.refused(c, get(base+"credentials?file_name=kubeconfig"), 401)
		a.refused(c, get(base+"files?file_name=metadata.json"), 401)
	}
	parts := strings.Split(signature, ".")
	for _, forged := range []string{
		parts[0] + "." + encodeClaims(map[string]any{"sub": claimsOf(signature)["sub"], "exp": 4102444800}) + "." + parts[2],
		encodeClaims(map[string]any{"alg": "none"}) + "." + parts[1] + ".",
	} {
		a.refused(credential{}, get(base+"files?file_name=metadata.json&signature="+forged), 401)
	}
	a.control(a.alice, get(base+"credentials?file_name=kubeconfig"))
}
