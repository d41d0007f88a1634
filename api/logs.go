package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/service/quota"
	"slipway/internal/wire"
)

// controllerLogs is the name of the controller's logs; logs of hosts have the host's id.
const controllerLogs = "controller"

func logsKey(clusterID uuid.UUID, source string) string {
	return blob.ClusterFile(clusterID, "logs/"+source+"/logs.tar.gz")
}

// V2UploadLogs stores an archive of logs of a host or of the controller without holding it in memory. A later archive
// replaces an earlier one.
func (s *server) V2UploadLogs(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2UploadLogsParams) error {
	if err := s.uploadLogs(r, id, params); err != nil {
		return err
	}
	return noContent(w)
}

func (s *server) uploadLogs(r *http.Request, id uuid.UUID, params wire.V2UploadLogsParams) error {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	if err := checkLogs(admission.CallerOf(r), params); err != nil {
		return err
	}
	if params.LogsType == wire.V2UploadLogsParamsLogsTypeController {
		size, leave, err := s.storeLogs(r, logsKey(id, controllerLogs), quota.Subject{ClusterID: id}, c.ControllerLogsBytes)
		if err != nil {
			return err
		}
		defer leave(true)
		_, err = s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
			c.ControllerLogsBytes = size
			c.ControllerLogsCollectedAt = tx.Now()
			record(r, tx, events.ClusterLogsUploaded, lifecycle.AboutCluster(c), nil)
			return nil
		})
		return err
	}
	infraEnvID := params.InfraEnvID
	if infraEnvID == uuid.Nil { // an agent's own machine is in its InfraEnv
		infraEnvID = admission.CallerOf(r).InfraEnvID
	}
	h, err := s.hostOfCluster(r.Context(), c, infraEnvID, params.HostID)
	if err != nil {
		return err
	}
	size, leave, err := s.storeLogs(r, logsKey(id, h.ID.String()), quota.Subject{InfraEnvID: h.InfraEnvID}, h.LogsBytes)
	if err != nil {
		return err
	}
	defer leave(true)
	_, err = s.Store.UpdateHost(r.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
		h.LogsCollectedAt, h.LogsBytes = tx.Now(), size
		record(r, tx, events.HostLogsUploaded, lifecycle.AboutHost(h), nil)
		return nil
	})
	return err
}

// checkLogs has a machine send its own logs only.
func checkLogs(caller admission.Caller, params wire.V2UploadLogsParams) error {
	ofController := params.LogsType == wire.V2UploadLogsParamsLogsTypeController
	switch {
	case caller.Role == auth.RoleController && !ofController:
		return httpapi.Errorf(httpapi.ErrForbidden, "logs_type: require controller with the token of a controller, found %s", params.LogsType)
	case caller.Role == auth.RoleAgent && (ofController || params.HostID != caller.HostID):
		return httpapi.Errorf(httpapi.ErrForbidden, "require the logs of host %s with its token, found the logs of %s %s",
			caller.HostID, params.LogsType, params.HostID)
	}
	return nil
}

// hostOfCluster finds a host by its id; foreign agents may leave its InfraEnv out.
func (s *server) hostOfCluster(ctx context.Context, c *model.Cluster, infraEnvID, hostID uuid.UUID) (*model.Host, error) {
	if hostID == uuid.Nil {
		return nil, model.Invalidf("host_id is required for the logs of a host")
	}
	var found *model.Host
	err := s.Store.Hosts(ctx, store.HostFilter{ClusterID: c.ID, InfraEnvID: infraEnvID}, func(h *model.Host) error {
		if h.ID == hostID {
			found = h
		}
		return nil
	})
	if err == nil && found == nil {
		err = model.NotFoundf("host %s was not found in cluster %s", hostID, c.Name)
	}
	return found, err
}

// storeLogs copies the file of a form into the blob store, in place of one of a size, and returns its size. The caller calls leave when the
// size is in the database.
func (s *server) storeLogs(
	r *http.Request, key string, of quota.Subject, replaced int64,
) (size int64, leave func(keep bool), err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return 0, nil, httpapi.Errorf(httpapi.ErrMediaType, "require content of type multipart/form-data, found %q", r.Header.Get("Content-Type"))
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return 0, nil, model.Invalidf("upfile: a file is required")
		}
		if err != nil {
			return 0, nil, formError(err)
		}
		if part.FormName() != "upfile" {
			continue
		}
		content := bufio.NewReader(formReader{part})
		if err := checkArchive(content); err != nil {
			return 0, nil, err
		}
		room := &room{ctx: r.Context(), quota: s.Quota, of: of, free: replaced}
		if err = room.grow(r.ContentLength); err == nil {
			size, err = s.storeFile(r.Context(), key, io.TeeReader(content, room))
		}
		if err != nil {
			room.leave(false)
		}
		return size, room.leave, err
	}
}

// room reserves bytes as a file arrives; the quota is not asked for bytes that are free.
type room struct {
	ctx   context.Context //nolint:containedctx // of the request
	quota *quota.Quota
	of    quota.Subject
	free  int64

	size, reserved int64
	done           []func(keep bool)
}

// Write implements io.Writer for a file whose length is not known before.
func (o *room) Write(p []byte) (int, error) {
	o.size += int64(len(p))
	if o.size <= o.free+o.reserved {
		return len(p), nil
	}
	return len(p), o.grow(o.size + logsAhead)
}

// logsAhead is how much more is reserved at a time.
const logsAhead = 1 << 20

// grow reserves what is missing for a size.
func (o *room) grow(size int64) error {
	more := size - o.free - o.reserved
	if more <= 0 {
		return nil
	}
	done, err := o.quota.Reserve(o.ctx, o.of, more)
	if err != nil {
		return err
	}
	o.reserved += more
	o.done = append(o.done, func(keep bool) {
		if !keep {
			more = 0
		}
		done(more)
	})
	return nil
}

// leave ends the reservations; the bytes are kept or not.
func (o *room) leave(keep bool) {
	for _, done := range o.done {
		done(keep)
	}
}

// gzipHead begins every gzip file (RFC 1952, section 2.3): its magic number and the only method.
var gzipHead = []byte{0x1f, 0x8b, 8}

// checkArchive refuses other files than those that agents and controllers send: whoever opens logs unpacks them.
func checkArchive(content *bufio.Reader) error {
	head, err := content.Peek(len(gzipHead))
	if err != nil && !errors.Is(err, io.EOF) {
		return err //nolint:wrapcheck // formReader has explained it
	}
	if !bytes.Equal(head, gzipHead) {
		return model.Invalidf("upfile: require an archive of logs, .tar.gz, that begins with the bytes 1f 8b 08, found % x", head)
	}
	return nil
}

func (s *server) storeFile(ctx context.Context, key string, content io.Reader) (size int64, err error) {
	file, err := s.Blob.Writer(ctx, key)
	if err != nil {
		return 0, err
	}
	defer file.Abort()
	if size, err = io.Copy(file, content); err != nil {
		return 0, err
	}
	return size, file.Close()
}

// formReader marks errors of reading a form as faults of the client, not of the storage.
type formReader struct{ io.Reader }

func (r formReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = formError(err)
	}
	return n, err
}

// formError explains a form that cannot be read; the error of a form that is too large is returned as it is.
func formError(err error) error {
	var size *http.MaxBytesError
	switch {
	case errors.As(err, &size):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return httpapi.Errorf(httpapi.ErrMalformed, "the form is incomplete")
	}
	return httpapi.Errorf(httpapi.ErrMalformed, "the multipart/form-data form is not valid: %s", err)
}

// V2UpdateClusterLogsProgress records the state of the collection of the controller's logs.
func (s *server) V2UpdateClusterLogsProgress(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.LogsProgressParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	_, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		c.LogsInfo = model.LogsState(params.LogsState)
		switch c.LogsInfo {
		case model.LogsRequested:
			c.ControllerLogsStartedAt = tx.Now()
		case model.LogsCompleted:
			c.ControllerLogsCollectedAt = tx.Now()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return noContent(w)
}
