package client

import (
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// LogsUpload is an archive of logs being uploaded.
type LogsUpload struct {
	ClusterID  uuid.UUID
	Type       wire.LogsType // host or controller
	InfraEnvID uuid.UUID     // of host logs
	HostID     uuid.UUID     // of host logs
	FileName   string        // logs.tar.gz
	// Open starts reading the content; it is called once for each attempt.
	Open func() (io.ReadCloser, error)
}

// UploadLogs sends an archive of logs without holding it in memory.
func (c *Client) UploadLogs(ctx context.Context, upload LogsUpload, options ...Option) error {
	query := url.Values{"logs_type": {string(upload.Type)}}
	if upload.HostID != uuid.Nil {
		query.Set("host_id", upload.HostID.String())
		query.Set("infra_env_id", upload.InfraEnvID.String())
	}
	return c.do(ctx, call{
		method: http.MethodPost, path: clusterPath(upload.ClusterID) + "/logs", query: query,
		upload: upload.body, ok: http.StatusNoContent, timeout: transferTimeout,
	}, options)
}

// body writes the form as it is read, so that an archive of any size passes.
func (u LogsUpload) body() (content io.Reader, contentType string) {
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() { writer.CloseWithError(u.write(form)) }()
	return reader, form.FormDataContentType()
}

func (u LogsUpload) write(form *multipart.Writer) error {
	file, err := u.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	part, err := form.CreateFormFile("upfile", u.FileName)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file); err != nil {
		return err
	}
	return form.Close()
}

// ClusterLogs downloads logs as an archive: of the controller, of one host or all.
func (c *Client) ClusterLogs(
	ctx context.Context, clusterID uuid.UUID, kind wire.LogsType, hostID uuid.UUID, to io.Writer, options ...Option,
) error {
	query := url.Values{"logs_type": {string(kind)}}
	if hostID != uuid.Nil {
		query.Set("host_id", hostID.String())
	}
	return c.do(ctx, call{
		method: http.MethodGet, path: clusterPath(clusterID) + "/logs", query: query, ok: http.StatusOK, into: to,
		timeout: transferTimeout,
	}, options)
}
