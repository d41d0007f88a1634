package kube_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	temporal "go.temporal.io/sdk/client"

	"slipway/test/built"
)

// requireWorkflow follows an address in a status to the page of a workflow, whose memo names the resource.
func (tr *trial) requireWorkflow(t *testing.T, address, resource string) {
	t.Helper()
	admin, carrier := built.Admin(t, tr.data), built.Carrier(t, tr.data)
	send := func(method, address string, body []byte) (*url.URL, []byte) {
		request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+string(admin.Secret()))
		request.Header.Set("Content-Type", "application/json")
		response, err := carrier.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", address, answer)
		return response.Request.URL, answer
	}
	page, _ := send(http.MethodGet, address, nil)
	require.Regexp(t, "^/temporal/namespaces/[^/]+/workflows/[^/]+$", page.Path)
	c, err := temporal.Dial(built.Temporal(t, tr.data))
	require.NoError(t, err)
	defer c.Close()
	description, err := c.DescribeWorkflowExecution(t.Context(), path.Base(page.Path), "")
	require.NoError(t, err)
	sealed := description.GetWorkflowExecutionInfo().GetMemo().GetFields()["kubernetes"]
	require.NotNil(t, sealed)

	type payload struct {
		Metadata map[string][]byte `json:"metadata"`
		Data     []byte            `json:"data"`
	}
	type payloads struct {
		Payloads []payload `json:"payloads"`
	}
	body, err := json.Marshal(payloads{[]payload{{sealed.GetMetadata(), sealed.GetData()}}})
	require.NoError(t, err)
	_, answer := send(http.MethodPost, admin.Server+"/temporal-codec/decode", body)
	var opened payloads
	require.NoError(t, json.Unmarshal(answer, &opened))
	require.Equal(t, `"`+resource+`"`, string(opened.Payloads[0].Data))
}

// requireMetrics reads what the controllers count when one cluster is installed.
func (tr *trial) requireMetrics(t *testing.T) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tr.metrics+"/metrics", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`slipway_kube_resources{kind="Agent",state="installed"} 1`,
		`slipway_kube_resources{kind="AgentClusterInstall",state="adding-hosts"} 1`,
		`controller_runtime_reconcile_total{controller="agent",result="success"} `,
	} {
		require.Contains(t, string(text), line)
	}
	at := regexp.MustCompile(`(?m)^slipway_kube_followed_timestamp_seconds (\S+)$`).FindSubmatch(text)
	require.NotNil(t, at)
	seconds, err := strconv.ParseFloat(string(at[1]), 64)
	require.NoError(t, err)
	require.True(t, time.UnixMilli(int64(seconds*1000)).After(tr.begun))
}
