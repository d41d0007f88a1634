package installer

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// reportLimit is how long a report may hold up an installation.
const reportLimit = 10 * time.Second

// progressStep is by how many percent an image has to grow to be reported again.
const progressStep = 5

// percentage is in every progress line of coreos-installer: "> Read disk 512.0 MiB/1.0 GiB (50%)".
var percentage = regexp.MustCompile(`\((\d+)(?:\.\d+)?%\)`)

// Progress extracts the percentage from the output of coreos-installer. Lines end with either \r or \n and may
// come in pieces.
type Progress struct {
	// Report receives the percentages: each five more than the last one, and 100.
	Report func(percent int)

	line []byte
	last int
}

// Write takes the next piece of output.
func (p *Progress) Write(chunk []byte) {
	p.line = append(p.line, chunk...)
	for {
		end := bytes.IndexAny(p.line, "\r\n")
		if end < 0 {
			return
		}
		p.read(p.line[:end])
		p.line = p.line[end+1:]
	}
}

func (p *Progress) read(line []byte) {
	found := percentage.FindSubmatch(line)
	if found == nil {
		return
	}
	percent, err := strconv.Atoi(string(found[1]))
	if err != nil || percent > 100 {
		return
	}
	if percent >= p.last+progressStep || percent == 100 && p.last < 100 {
		p.last = percent
		p.Report(percent)
	}
}

// percentReport sends the latest percentage to the service without ever delaying the writing: a percentage that
// a slow service has not received yet is replaced.
type percentReport struct {
	next chan int
	done chan struct{}
}

func (i *Installer) reportPercent(ctx context.Context, req *wire.InstallCmdRequest) *percentReport {
	report := &percentReport{next: make(chan int, 1), done: make(chan struct{})}
	go func() {
		defer close(report.done)
		for percent := range report.next {
			i.report(ctx, req, wire.HostStageWritingImageToDisk, fmt.Sprintf("%d%%", percent))
		}
	}()
	return report
}

func (r *percentReport) latest(percent int) {
	select {
	case <-r.next: // not sent yet
	default:
	}
	r.next <- percent
}

func (r *percentReport) finish() {
	close(r.next)
	<-r.done
}

// report sends the stage of the host to the service; an installation does not end because that failed.
func (i *Installer) report(
	ctx context.Context, req *wire.InstallCmdRequest, stage wire.HostStage, info string, options ...client.Option,
) {
	options = append([]client.Option{client.WithTimeout(reportLimit)}, options...)
	err := i.Client.UpdateHostProgress(ctx, req.InfraEnvID, req.HostID, stage, info, options...)
	if err != nil && ctx.Err() == nil {
		i.Log.Warn("progress not reported", "stage", stage, "error", err)
	}
}
