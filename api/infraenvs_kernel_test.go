package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestKernelArgumentsThatABootLoaderReadsInAnotherWayAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	set := func(operation, value string) map[string]any {
		return map[string]any{"kernel_arguments": []any{map[string]any{"operation": operation, "value": value}}}
	}
	for name, c := range map[string]struct{ value, want string }{
		"a line end in quotes":           {"a=\"b\nboot\"", "found a line end or another control character"},
		"the end of another system":      {"a=\"b\rboot\"", "found a line end"},
		"a blank of its own kind":        {"a=\"b\tc\"", "control character"},
		"an end of text":                 {"a=\"b\u0000\"", ""},
		"a comment":                      {"#a", "found # in"},
		"a quote of shells":              {"a='b", "found ' in"},
		"a variable in quotes":           {`a="$prefix"`, "found $ in"},
		"a variable of iPXE":             {"a=${net0/mac}", "found $ in"},
		"a backslash in quotes":          {`a="\"`, `found \ in`},
		"a backslash at the end":         {`a=\`, `found \ in`},
		"the end of a command by quotes": {`a="b";c`, "found ; in"},
		"another command in quotes":      {`a="b || shell"`, "found || in"},
		"another command":                {"&&", "found && in"},
		"a brace alone":                  {"{", "found { in"},
	} {
		for _, operation := range []string{"append", "delete"} {
			got := s.send(http.MethodPatch, envPath(e.ID), set(operation, c.value))
			require.Equal(t, http.StatusBadRequest, got.Status, name)
			require.Contains(t, got.Reason(got.Status), c.want, name)
		}
	}
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), set("replace", "a=b=\"c\nd\"")).Reason(http.StatusBadRequest),
		"kernel_arguments[0].value",
	)
	for _, value := range []string{
		`rd.break="a b"`, "coreos.inst.ignition_url=http://192.0.2.1/a?b=c&d=e", "ip=[2001:db8::5]::[2001:db8::1]:64:host#1:eth0:none",
		"systemd.mask=dev-disk\\x2da.device",
		"isolcpus=1-3,{5}", "a=$b;c|d", "ümlaut",
	} {
		s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), set("append", value))
		script := string(s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=ipxe-script", nil).Body)
		require.Contains(t, script, " "+value+"\nboot\n")
		require.Equal(t, 4, strings.Count(script, "\n"))
	}
}

func TestImagesOfS390xHaveNoMinimalOneAndNoRoomForKernelArguments(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := func(more map[string]any) map[string]any {
		out := map[string]any{"name": "z", "pull_secret": pullSecret, "cpu_architecture": "s390x"}
		for name, value := range more {
			out[name] = value
		}
		return out
	}
	minimal := map[string]any{"image_type": "minimal-iso"}
	arguments := map[string]any{"kernel_arguments": []any{map[string]any{"operation": "append", "value": "a=b"}}}
	require.Contains(
		t,
		s.send(http.MethodPost, "/v2/infra-envs", body(minimal)).Reason(http.StatusBadRequest),
		"image_type: require full-iso with cpu_architecture s390x",
	)
	require.Contains(
		t,
		s.send(http.MethodPost, "/v2/infra-envs", body(arguments)).Reason(http.StatusBadRequest),
		"kernel_arguments: require none with cpu_architecture s390x",
	)
	id := uuid.MustParse(s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body(nil)).Object()["id"].(string))
	s.send(http.MethodPatch, envPath(id), minimal).Reason(http.StatusBadRequest)
	s.send(http.MethodPatch, envPath(id), arguments).Reason(http.StatusBadRequest)
	require.Contains(t, s.want(http.StatusOK, http.MethodGet, envPath(id)+"/downloads/image-url", nil).Object()["url"], "/s390x/full.iso")
}
