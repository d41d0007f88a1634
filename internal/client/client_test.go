package client_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/model"
)

var (
	clusterID = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	envID     = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	hostID    = uuid.MustParse("33333333-3333-4333-8333-333333333333")
)

const (
	clusterPath = "/v2/clusters/11111111-1111-4111-8111-111111111111"
	envPath     = "/v2/infra-envs/22222222-2222-4222-8222-222222222222"
	hostPath    = envPath + "/hosts/33333333-3333-4333-8333-333333333333"
)

// all lists the operations of every file.
func all() map[string]operation {
	list := operations()
	maps.Copy(list, settings())
	return list
}

func TestOperationsLookLikeTheContract(t *testing.T) {
	t.Parallel()
	for name, op := range all() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var line, body, contentType string
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				content, _ := io.ReadAll(r.Body)
				line, body, contentType = r.Method+" "+r.URL.RequestURI(), string(content), r.Header.Get("Content-Type")
				w.WriteHeader(op.ok)
				_, _ = io.WriteString(w, op.answer)
			}))
			t.Cleanup(service.Close)
			c := client.New(client.Options{BaseURL: service.URL + "/", AgentVersion: "1.2"})
			require.NoError(t, op.call(t.Context(), c))
			method, path, _ := strings.Cut(op.line, " ")
			if !strings.HasPrefix(path, "/api/slipway") {
				path = "/api/assisted-install" + path
			}
			require.Equal(t, method+" "+path, line)
			if op.body == "" {
				require.Empty(t, body)
				return
			}
			require.Equal(t, "application/json", contentType)
			require.JSONEq(t, op.body, body)
		})
	}
}

func TestAnyOtherSuccessCodeIsAnError(t *testing.T) {
	t.Parallel()
	for name, op := range all() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := http.StatusOK
			if op.ok == other {
				other = http.StatusAccepted
			}
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(other) }))
			t.Cleanup(service.Close)
			var answer *client.Error
			require.ErrorAs(t, op.call(t.Context(), client.New(client.Options{BaseURL: service.URL})), &answer)
			require.Equal(t, other, answer.Status)
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		w.Header().Set("Preference-Applied", "wait=30")
		_, _ = io.WriteString(w, `{"next_instruction_seconds":60,"instructions":[{"step_id":"a","step_type":"inventory"}]}`)
	}))
	t.Cleanup(service.Close)
	c := client.New(client.Options{BaseURL: service.URL, Token: "secret", UserToken: "Bearer user", UserAgent: "test/1", AgentVersion: "7"})

	poll, err := c.NextSteps(t.Context(), envID, hostID, time.Unix(1, 0), client.WithWait(30*time.Second))
	require.NoError(t, err)
	require.True(t, poll.Held)
	require.Equal(t, 60, poll.NextInstructionSeconds)
	require.Equal(t, "a", poll.Instructions[0].StepID)
	header := <-got
	require.Equal(t, "secret", header.Get("X-Secret-Key"))
	require.Equal(t, "Bearer user", header.Get("Authorization"))
	require.Equal(t, "test/1", header.Get("User-Agent"))
	require.Equal(t, "7", header.Get("discovery_agent_version"))
	require.Equal(t, "wait=30", header.Get("Prefer"))
	require.Empty(t, header.Get("Slipway-Steps"))

	_, err = c.RegisterHost(t.Context(), envID, hostID, client.WithFineSteps())
	require.Error(t, err, "200 is not 201")
	require.Equal(t, "fine", (<-got).Get("Slipway-Steps"))
}

func TestErrorsSayWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		is      error
		passing bool
		text    string
	}{
		"a bad request":          {400, `{"code":"400","reason":"name is taken"}`, model.ErrInvalid, false, "400: name is taken"},
		"a missing object":       {404, `{"code":"404","reason":"no such cluster"}`, model.ErrNotFound, false, "404: no such cluster"},
		"a wrong state":          {409, `{"reason":"is installing"}`, model.ErrConflict, false, "409: is installing"},
		"an unprocessable field": {422, `{"reason":"no"}`, model.ErrUnprocessable, false, "422: no"},
		"an unknown caller":      {401, `{"code":401,"message":"who are you"}`, client.ErrUnauthorized, false, "401: who are you"},
		"a forbidden call":       {403, `{"code":403,"message":"not you"}`, client.ErrUnauthorized, false, "403: not you"},
		"an unbuilt operation":   {501, `{"reason":"later"}`, model.ErrNotBuilt, false, "501: later"},
		"a busy service":         {503, `<html>`, model.ErrUnavailable, true, "503 Service Unavailable"},
		"too many calls":         {429, ``, model.ErrUnavailable, true, "429 Too Many Requests"},
		"a broken service":       {500, `{"reason":"sorry"}`, model.ErrUnavailable, true, "500: sorry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(service.Close)
			_, err := client.New(client.Options{BaseURL: service.URL}).Cluster(t.Context(), clusterID)
			require.ErrorIs(t, err, c.is)
			require.EqualError(t, err, "GET "+clusterPath+": "+c.text)
			require.Equal(t, c.passing, client.Passing(err))
			require.Equal(t, 7*time.Second, client.RetryAfter(err))
		})
	}
}

func TestAnswersThatAreNoJSONPass(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>log in to this network</html>")
	}))
	t.Cleanup(service.Close)
	_, err := client.New(client.Options{BaseURL: service.URL}).Cluster(t.Context(), clusterID)
	require.ErrorContains(t, err, "read the answer")
	require.True(t, client.Passing(err))
}

func TestRetries(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch calls.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			_, _ = io.WriteString(w, `{"name":"c"}`)
		}
	}))
	t.Cleanup(service.Close)
	c := client.New(client.Options{BaseURL: service.URL})

	cluster, err := c.Cluster(t.Context(), clusterID, client.WithRetry(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "c", cluster.Name)
	require.EqualValues(t, 3, calls.Load())
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	t.Run("at an answer that will not change", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int32
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.WriteHeader(http.StatusConflict)
		}))
		t.Cleanup(service.Close)
		_, err := client.New(client.Options{BaseURL: service.URL}).InstallCluster(t.Context(), clusterID, client.WithRetry(time.Minute))
		require.ErrorIs(t, err, model.ErrConflict)
		require.EqualValues(t, 1, calls.Load())
	})
	t.Run("when the limit is over, with the last answer", func(t *testing.T) {
		t.Parallel()
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(service.Close)
		_, err := client.New(client.Options{BaseURL: service.URL}).Cluster(t.Context(), clusterID, client.WithRetry(10*time.Second))
		require.ErrorIs(t, err, model.ErrUnavailable)
	})
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(service.Close)
		_, err := client.New(client.Options{BaseURL: service.URL}).Cluster(ctx, clusterID, client.WithRetry(0))
		require.Error(t, err)
	})
}

func TestAHungServiceIsLeft(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(service.Close)
	_, err := client.New(client.Options{BaseURL: service.URL}).Cluster(t.Context(), clusterID, client.WithTimeout(20*time.Millisecond))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, client.Passing(err))
}
