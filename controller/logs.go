package controller

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// logTail is how much of the end of the log is sent (bytes).
const logTail = 32 << 20

// summarized are the resources in the last logs, by file name.
var summarized = map[string]schema.GroupVersionResource{
	"nodes":                      {Version: "v1", Resource: "nodes"},
	"events":                     {Version: "v1", Resource: "events"},
	"certificatesigningrequests": {Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"},
	"clusterversions":            clusterVersions,
	"clusteroperators":           clusterOperators,
}

func (a SendLogs) do(ctx context.Context, c *controller) error {
	c.logsSentAt = c.Now()
	c.note(ctx, "send logs", c.sendLogs(ctx, a.Last))
	if a.Last {
		c.lastLogsSent = true
	}
	return nil
}

func (c *controller) sendLogs(ctx context.Context, last bool) error {
	archive, err := c.archive(ctx, last)
	if err != nil {
		return fmt.Errorf("pack logs: %w", err)
	}
	if last {
		if err := c.Service.ClusterLogsProgress(ctx, c.ClusterID, wire.LogsStateRequested); err != nil {
			return fmt.Errorf("report that logs are sent: %w", err)
		}
	}
	err = c.Service.UploadLogs(ctx, client.LogsUpload{
		ClusterID: c.ClusterID, Type: wire.LogsTypeController, FileName: component + ".tar.gz",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
	})
	if err != nil {
		return fmt.Errorf("send logs: %w", err)
	}
	if !last {
		return nil
	}
	if err := c.Service.ClusterLogsProgress(ctx, c.ClusterID, wire.LogsStateCompleted); err != nil {
		return fmt.Errorf("report that logs were sent: %w", err)
	}
	return nil
}

// archive is a tar.gz of the end of the own log and, the last time, of the cluster's state.
func (c *controller) archive(ctx context.Context, last bool) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	files := tar.NewWriter(zip)
	add := func(name string, content []byte) error {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: c.Now()}
		if err := files.WriteHeader(header); err != nil {
			return err
		}
		_, err := files.Write(content)
		return err
	}
	if c.LogFile != "" {
		own, err := tail(c.LogFile)
		if err != nil {
			return nil, err
		}
		if err := add(component+".log", own); err != nil {
			return nil, err
		}
	}
	if last {
		for name, gvr := range summarized {
			if err := add("cluster/"+name+".json", c.summary(ctx, gvr)); err != nil {
				return nil, err
			}
		}
	}
	if err := files.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// summary lists the objects of a resource as JSON; an error becomes the content, because a cluster in trouble
// answers only some requests.
func (c *controller) summary(ctx context.Context, gvr schema.GroupVersionResource) []byte {
	list, err := c.dynamic.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []byte(err.Error())
	}
	content, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return []byte(err.Error())
	}
	return content
}

func tail(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > logTail {
		if _, err := file.Seek(-logTail, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(file, logTail))
}
