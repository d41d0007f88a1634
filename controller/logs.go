package controller

import (
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
	if !a.Last {
		c.note(ctx, "send logs", c.sendLogs(ctx))
		return nil
	}
	c.sendLastLogs(ctx, a.Failed)
	return nil
}

// sendLogs sends the log of a running installation.
func (c *controller) sendLogs(ctx context.Context) error {
	packed, err := newArchive(c.Now())
	if err != nil {
		return fmt.Errorf("pack logs: %w", err)
	}
	defer packed.remove()
	if err := c.pack(ctx, packed, false, false); err != nil {
		return fmt.Errorf("pack logs: %w", err)
	}
	return c.upload(ctx, packed)
}

func (c *controller) upload(ctx context.Context, packed *archive) error {
	err := c.Service.UploadLogs(ctx, client.LogsUpload{
		ClusterID: c.ClusterID, Type: wire.LogsTypeController, FileName: component + ".tar.gz", Open: packed.open,
	})
	if err != nil {
		return fmt.Errorf("send logs: %w", err)
	}
	return nil
}

// pack writes the end of the own log and, the last time, the cluster's state; all of it when the installation failed. A log that
// cannot be read is replaced by the reason.
func (c *controller) pack(ctx context.Context, files *archive, last, failed bool) error {
	if c.LogFile != "" {
		own, err := tail(c.LogFile)
		if err != nil {
			own = []byte("the log of the controller cannot be read: " + err.Error())
		}
		if err := files.bytes(component+".log", own); err != nil {
			return err
		}
	}
	if last {
		for name, gvr := range summarized {
			if err := files.bytes("cluster/"+name+".json", c.summary(ctx, gvr)); err != nil {
				return err
			}
		}
	}
	if failed {
		c.gather(ctx, files)
	}
	return files.finish()
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
