package api

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2DownloadClusterLogs sends the logs of a host, of the controller, or all existing ones.
func (s *server) V2DownloadClusterLogs(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DownloadClusterLogsParams,
) error {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	switch {
	case params.LogsType == wire.V2DownloadClusterLogsParamsLogsTypeController:
		return s.downloadBlob(w, r, logsKey(id, controllerLogs), controllerLogsName(c), errNoLogs(c))
	case params.HostID != uuid.Nil:
		h, err := s.hostOfCluster(r.Context(), c, uuid.Nil, params.HostID)
		if err != nil {
			return err
		}
		return s.downloadBlob(w, r, logsKey(id, h.ID.String()), logsName(c, h), errNoLogs(c))
	case params.LogsType == wire.V2DownloadClusterLogsParamsLogsTypeHost:
		return model.Invalidf("host_id is required for the logs of a host")
	}
	return s.downloadAllLogs(w, r, c)
}

func errNoLogs(c *model.Cluster) error {
	return model.NotFoundf("logs of cluster %s were not found: none were collected", c.Name)
}

// logsName returns the suggested file name of the logs of a host.
func logsName(c *model.Cluster, h *model.Host) string {
	role := string(h.EffectiveRole())
	if h.Bootstrap {
		role = string(model.RoleBootstrap)
	}
	return fileName(fmt.Sprintf("%s_%s_%s.tar.gz", c.Name, role, answers.HostName(h)))
}

func controllerLogsName(c *model.Cluster) string { return fileName(c.Name + "_controller.tar.gz") }

// noFileName matches characters that a file name must not have: the names of hosts and clusters are chosen by their
// users, and archives are unpacked with these names.
var noFileName = regexp.MustCompile(`^\.+|[^A-Za-z0-9._-]+`)

func fileName(text string) string { return noFileName.ReplaceAllString(text, "_") }

// logFile is an archive of logs and its name for users.
type logFile struct{ key, name string }

// downloadAllLogs sends one archive of all archives, and of the service's own data about the cluster, without holding them in memory.
func (s *server) downloadAllLogs(w http.ResponseWriter, r *http.Request, c *model.Cluster) error {
	files, err := s.logFiles(r.Context(), c)
	if err != nil {
		return err
	}
	support, err := s.supportFiles(r.Context(), c)
	if err != nil {
		return err
	}
	fileHeaders(w, fileName(fmt.Sprintf("%s_%s.tar", c.Name, c.ID)), s.Now())
	w.Header().Set("Content-Type", "application/octet-stream")
	client := newPatient(w, s.Now)
	defer client.done()
	archive := tar.NewWriter(client)
	err = packSupport(archive, support, s.Now())
	if err == nil {
		err = s.packLogs(r.Context(), archive, files)
	}
	if err != nil {
		return httpapi.Incomplete(err)
	}
	return nil
}

func (s *server) logFiles(ctx context.Context, c *model.Cluster) ([]logFile, error) {
	names := map[string]string{controllerLogs: controllerLogsName(c)}
	err := s.Store.Hosts(ctx, store.HostFilter{ClusterID: c.ID}, func(h *model.Host) error {
		names[h.ID.String()] = logsName(c, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	folder := blob.ClusterFile(c.ID, "logs")
	objects, err := s.Blob.List(ctx, folder)
	var files []logFile
	for _, o := range objects {
		source, _, _ := strings.Cut(strings.TrimPrefix(o.Key, folder+"/"), "/")
		files = append(files, logFile{o.Key, or(names[source], source+".tar.gz")})
	}
	return files, err
}

func (s *server) packLogs(ctx context.Context, archive *tar.Writer, files []logFile) error {
	for _, f := range files {
		if err := s.packFile(ctx, archive, f); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (s *server) packFile(ctx context.Context, archive *tar.Writer, f logFile) error {
	object, err := s.Blob.Reader(ctx, f.key)
	if errors.Is(err, model.ErrNotFound) {
		return nil // replaced by a newer one in the meantime
	}
	if err != nil {
		return err
	}
	defer object.Close()
	err = archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: f.name, Mode: 0o600, Size: object.Size, ModTime: object.ModTime,
	})
	if err != nil {
		return fmt.Errorf("pack %s: %w", f.name, err)
	}
	if _, err := io.Copy(archive, object); err != nil {
		return fmt.Errorf("pack %s: %w", f.name, err)
	}
	return nil
}
