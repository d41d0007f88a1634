package frontend_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"slipway/internal/platform/frontend"
	"slipway/internal/testing/httpclient"
)

// changes are all changes that the web UI may make in the namespace, written by hand from the routes in the bundle of ui-server 2.55.0.
var changes = []string{
	"DELETE schedules/{schedule_id}",
	"POST activities-deprecated/pause",
	"POST activities-deprecated/reset",
	"POST activities-deprecated/unpause",
	"POST activities-deprecated/update-options",
	"POST batch-operations/{job_id}",
	"POST schedules/{schedule_id}/patch",
	"POST worker-deployments/{deployment_name}/set-current-version",
	"POST worker-deployments/{deployment_name}/set-ramping-version",
	"POST workflows/{workflow_execution.workflow_id}/cancel",
	"POST workflows/{workflow_execution.workflow_id}/reset",
	"POST workflows/{workflow_execution.workflow_id}/signal/{signal_name}",
	"POST workflows/{workflow_execution.workflow_id}/terminate",
	"POST workflows/{workflow_execution.workflow_id}/update/{request.input.name}",
	"POST workflows/{workflow_id}/pause",
	"POST workflows/{workflow_id}/unpause",
}

// query is a read that is sent by POST.
const query = "POST workflows/{execution.workflow_id}/query/{query.query_type}"

// httpCalls lists all calls that a Temporal frontend of this API version offers over HTTP, by its own descriptors.
func httpCalls(t *testing.T) []string {
	t.Helper()
	var calls []string
	for _, file := range []protoreflect.FileDescriptor{
		workflowservice.File_temporal_api_workflowservice_v1_service_proto,
		operatorservice.File_temporal_api_operatorservice_v1_service_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			rule, _ := proto.GetExtension(methods.Get(i).Options(), annotations.E_Http).(*annotations.HttpRule)
			for _, r := range append(slices.Clone(rule.GetAdditionalBindings()), rule) {
				for method, path := range map[string]string{
					"GET": r.GetGet(), "POST": r.GetPost(), "PUT": r.GetPut(), "PATCH": r.GetPatch(), "DELETE": r.GetDelete(),
				} {
					if path != "" {
						calls = append(calls, method+" "+path)
					}
				}
			}
		}
	}
	slices.Sort(calls)
	require.Greater(t, len(calls), 150)
	return calls
}

// upstream is a Temporal frontend that answers everything with an empty message and keeps what it was sent.
type upstream struct {
	address string
	mu      sync.Mutex
	calls   []upstreamCall
}

type upstreamCall struct {
	method  string
	request string // its bytes: the namespace is a string in them
	headers metadata.MD
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.address = listener.Addr().String()
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		var request emptypb.Empty
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		headers, _ := metadata.FromIncomingContext(stream.Context())
		u.mu.Lock()
		u.calls = append(u.calls, upstreamCall{method, string(request.ProtoReflect().GetUnknown()), headers})
		u.mu.Unlock()
		return stream.SendMsg(&emptypb.Empty{})
	}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return u
}

func (u *upstream) taken() []upstreamCall {
	u.mu.Lock()
	defer u.mu.Unlock()
	calls := u.calls
	u.calls = nil
	return calls
}

func TestUIReachesNoOtherNamespace(t *testing.T) {
	t.Parallel()
	temporal := newUpstream(t)
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address)})
	for _, call := range httpCalls(t) {
		if !strings.Contains(call, "{namespace}") {
			continue
		}
		for _, namespace := range []string{"payroll", "temporal-system", "slipway2", "Slipway", "%73lipway", "slipway%2F..%2Fpayroll"} {
			method, path := filled(call, namespace)
			status := send(t, server, method, path)
			require.Empty(t, temporal.taken(), "%s %s", method, path)
			if strings.HasPrefix(path, "/api/") { // others are pages
				require.Equal(t, http.StatusForbidden, status, "%s %s", method, path)
			}
		}
	}
}

func TestUIReachesOfItsNamespaceWhatItNeeds(t *testing.T) {
	t.Parallel()
	temporal := newUpstream(t)
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address)})
	viewers := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address), ReadOnly: true})
	var writes, outside, viewed []string
	for _, call := range httpCalls(t) {
		method, path := filled(call, "slipway")
		call = strings.Replace(call, "/api/v1/namespaces/{namespace}/", "", 1)
		send(t, server, method, path)
		for _, reached := range temporal.taken() {
			switch {
			case strings.HasPrefix(call, "GET /"):
				outside = append(outside, call)
				continue
			case method != http.MethodGet:
				writes = append(writes, call)
			}
			require.Contains(t, reached.request, "slipway", "%s without the namespace", call)
		}
		send(t, viewers, method, path)
		if len(temporal.taken()) > 0 {
			viewed = append(viewed, call)
		}
	}
	require.Equal(t, []string{
		"GET /api/v1/cluster-info", "GET /api/v1/namespaces", "GET /api/v1/namespaces/{namespace}", "GET /api/v1/system-info",
	}, outside)
	require.ElementsMatch(t, append(slices.Clone(changes), query), writes)
	require.Subset(t, viewed, []string{
		"GET workflows", "GET workflow-count", "GET workflows/{execution.workflow_id}", "GET workflows/{execution.workflow_id}/history",
		"GET search-attributes", query,
	})
	for _, call := range viewed {
		require.True(t, strings.HasPrefix(call, "GET ") || call == query, "viewers reach %s", call)
	}
}

// filled returns a call with a namespace, and x for its other parameters.
func filled(call, namespace string) (method, path string) {
	method, pattern, _ := strings.Cut(call, " ")
	return method, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(strings.Replace(pattern, "{namespace}", namespace, 1), "x")
}

func TestUICannotBeLedToAnotherNamespace(t *testing.T) {
	t.Parallel()
	temporal := newUpstream(t)
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address)})
	for _, path := range []string{
		"/api/v1/namespaces/slipway/../payroll/workflows",
		"/api/v1/namespaces/slipway/%2e%2e/payroll/workflows",
		"//api/v1/namespaces/payroll/workflows",
		"/x/../api/v1/namespaces/payroll/workflows",
		"/api/v1//namespaces/payroll/workflows",
		"/api/v1/namespaces//workflows",
		"/cluster/namespaces",
		"/namespaces/payroll/workflow-count",
		"/system-info",
		"/api/v1/namespaces/payroll/workflows/w/run/r/history.json",
		"/api/v1/releases",
	} {
		send(t, server, http.MethodGet, path)
		require.Empty(t, temporal.taken(), path)
	}
	for _, path := range []string{"/api/v1/namespaces/slipway/workflows?namespace=payroll", "/api/v1/namespaces?namespace=payroll"} {
		send(t, server, http.MethodGet, path)
		for _, call := range temporal.taken() {
			require.NotContains(t, call.request, "payroll", path)
		}
	}
	for _, header := range []string{"X-HTTP-Method-Override: DELETE", "X-HTTP-Method-Override: GET"} {
		send(t, server, http.MethodPost, "/api/v1/nexus/endpoints/x", header, "Content-Type: application/x-www-form-urlencoded")
		require.Empty(t, temporal.taken(), header)
	}
}

func TestUIListsItsNamespaceAlone(t *testing.T) {
	t.Parallel()
	temporal := newUpstream(t)
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address)})
	response, body := ask(t, server, http.MethodGet, "localhost", "/temporal/api/v1/namespaces?pageSize=100", "")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.JSONEq(t, `{"namespaces":[{}]}`, body, "what the frontend describes, in a list")
	calls := temporal.taken()
	require.Len(t, calls, 1)
	require.Equal(t, "/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace", calls[0].method)
}

func TestUIPassesNoCredentialOfCallersOn(t *testing.T) {
	t.Parallel()
	temporal := newUpstream(t)
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, temporal.address)})
	send(t, server, http.MethodGet, "/api/v1/namespaces/slipway/workflows",
		"Authorization: Bearer secret", "Authorization-Extras: secret", "Cookie: session=secret", "Grpc-Metadata-Authorization: secret")
	calls := temporal.taken()
	require.Len(t, calls, 1)
	for name, values := range calls[0].headers {
		require.NotContains(t, strings.Join(values, " "), "secret", name)
	}
}

// send sends a request as the pages do, with extra headers, and returns the status.
func send(t *testing.T, server *httptest.Server, method, path string, headers ...string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	request.URL.Opaque = "/temporal" + path // sent as it is
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := httpclient.New(t).Transport.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

// Every change that the pages can make is a command, also one that they have no access to; reads are none.
func TestChangesOfThePagesAreCommands(t *testing.T) {
	t.Parallel()
	const prefix = "/temporal/api/v1/namespaces/slipway/"
	of := func(call string) (frontend.Command, bool) {
		method, path, _ := strings.Cut(call, " ")
		return frontend.CommandOf(httptest.NewRequest(method, path, nil))
	}
	for _, change := range changes {
		method, path, _ := strings.Cut(change, " ")
		c, changes := of(method + " " + prefix + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "a%3Ab"))
		require.True(t, changes, change)
		require.Equal(t, "/api/v1/namespaces/*/"+regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "*"), c.Pattern)
		require.Equal(t, strings.Count(path, "{"), len(c.Objects), change)
		for _, object := range c.Objects {
			require.Equal(t, "a:b", object)
		}
		require.NotEmpty(t, c.Name)
		require.NotContains(t, c.Name, "*")
	}
	for _, other := range []string{
		"POST " + prefix + "workflows/a", "PUT " + prefix + "hunter2", "DELETE /temporal/api/v1/nexus/endpoints/hunter2",
		"POST /temporal/api/v1/",
	} {
		c, changes := of(other)
		require.True(t, changes, other)
		require.Empty(t, c.Name+strings.Join(c.Objects, ""), other)
		require.NotContains(t, c.Pattern, "hunter2")
	}
	for _, read := range []string{
		"GET " + prefix + "workflows", "POST " + prefix + "workflows/a/query/state", "POST /temporal/codec/decode", "POST /temporal/login",
		"HEAD " + prefix + "workflows",
	} {
		_, changes := of(read)
		require.False(t, changes, read)
	}
}
