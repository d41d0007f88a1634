package images_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/images"
	"slipway/internal/app/process"
	"slipway/internal/platform/guard"
	"slipway/internal/testing/httpclient"
)

// A wrapper hides sendfile.
func TestImagesWriteToTheServersOwnWriter(t *testing.T) {
	t.Parallel()
	s, err := process.Listen("127.0.0.1:0", nil, nil, time.Now, slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop(t.Context()) })
	routes := chi.NewRouter()
	images.Mount(routes, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, "%T", w) }))
	s.Use(guard.Guard(guard.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}, routes))
	answer, err := httpclient.New(t).Get("http://" + s.Address() + "/boot-artifacts/rootfs")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "*http.response", string(text))
}
