package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
)

// fileHeaders name a file that a browser is to save (docs/reference/wire.md, "Files").
// Nothing between the service and the user may keep it: most files hold secrets.
func fileHeaders(w http.ResponseWriter, name string, changed time.Time) {
	w.Header().Set("Content-Disposition", httpapi.Attachment(name))
	w.Header().Set("Cache-Control", "no-store")
	if !changed.IsZero() {
		w.Header().Set("Last-Modified", changed.UTC().Format(http.TimeFormat))
	}
}

// downloadBlob answers with an object of the blob store, piece by piece. missing is the
// error when there is none.
func (s *server) downloadBlob(w http.ResponseWriter, r *http.Request, key, name string, missing error) error {
	object, err := s.Blob.Reader(r.Context(), key)
	if errors.Is(err, model.ErrNotFound) {
		err = missing
	}
	if err != nil {
		return err
	}
	defer object.Close()
	fileHeaders(w, name, object.ModTime)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(object.Size, 10))
	client := newPatient(w, s.Now)
	defer client.done()
	if _, err := io.Copy(client, object); err != nil {
		return httpapi.Incomplete(err)
	}
	return nil
}

// blobText reads a small object, without the space around it.
func (s *server) blobText(ctx context.Context, key string, missing error) (string, error) {
	content, err := s.Blob.Get(ctx, key)
	if errors.Is(err, model.ErrNotFound) {
		return "", missing
	}
	return string(bytes.TrimSpace(content)), err
}
