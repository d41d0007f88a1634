package controller_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"slipway/controller"
)

// A kube API that does not answer is asked once for many requests, and not again for each later one.
func TestRequestsDoNotQueueForProxySettings(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	arrived, answer := make(chan struct{}, 10), make(chan struct{})
	kube := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		arrived <- struct{}{}
		<-answer
		http.Error(w, "no leader", http.StatusServiceUnavailable)
	}))
	t.Cleanup(kube.Close)
	now := time.Now()
	proxy, err := controller.NewProxy(&rest.Config{Host: kube.URL}, func() time.Time { return now })
	require.NoError(t, err)
	request := func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://slipway.example.org/", nil)
		require.NoError(t, err)
		_, err = proxy.For(r)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(request)
	}
	<-arrived
	close(answer)
	all.Wait()
	require.EqualValues(t, 1, asked.Load(), "one read serves all that wait")
	request()
	require.EqualValues(t, 1, asked.Load(), "a failed read is remembered")
	now = now.Add(time.Minute)
	request()
	require.EqualValues(t, 2, asked.Load(), "and tried again later")
}
