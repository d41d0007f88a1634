package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
)

// absence is since when the current version has not polled.
type absence struct {
	build string
	last  time.Time // of its polls, by the server's clock; zero without any
	since time.Time // by ours
}

// mayReplace reports whether this older version may become current instead of build.
func (v *Versions) mayReplace(ctx context.Context, build string) (bool, error) {
	last, err := v.lastPoll(ctx, build)
	if err != nil {
		return false, err
	}
	if !v.isGone(build, last) {
		return false, nil
	}
	unknown, err := v.unknownChanges(ctx)
	if err != nil {
		return false, err
	}
	if len(unknown) > 0 {
		v.warn("no worker of the current version runs, and this older one cannot continue its workflows: start a worker of the current version",
			"current", build, "workflows", unknown)
		return false, nil
	}
	v.warn("no worker of the current version runs: this older one continues", "current", build)
	return true, nil
}

// isGone reports whether build has not polled for so long that its workers have ended.
func (v *Versions) isGone(build string, last time.Time) bool {
	if v.absence.build != build || !v.absence.last.Equal(last) {
		v.absence = absence{build: build, last: last, since: v.Now()}
	}
	limit := v.Pace.Silent
	if last.IsZero() {
		limit = v.Pace.Gone
	}
	return v.Now().Sub(v.absence.since) >= limit
}

// lastPoll returns when workers of build polled last; zero when Temporal lists none.
func (v *Versions) lastPoll(ctx context.Context, build string) (last time.Time, err error) {
	queue, err := v.Client.DescribeTaskQueue(ctx, v.Queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return last, fmt.Errorf("list the workers of %s: %w", v.Queue, err)
	}
	for _, p := range queue.GetPollers() {
		o := p.GetDeploymentOptions()
		if at := p.GetLastAccessTime().AsTime(); o.GetDeploymentName() == Deployment && o.GetBuildId() == build && at.After(last) {
			last = at
		}
	}
	return last, nil
}

// passed finds the running workflows that have passed a change.
const passed = `ExecutionStatus = "Running" AND TemporalChangeVersion IS NOT NULL`

// changeVersion is the search attribute in which the SDK notes the changes that a workflow has passed, each as the name
// and the version with a hyphen between.
const changeVersion = "TemporalChangeVersion"

// shown is how many workflows are named in the log.
const shown = 10

// unknownChanges names running workflows that have passed a change that this program does not know.
func (v *Versions) unknownChanges(ctx context.Context) ([]string, error) {
	var unknown []string
	request := &workflowservice.ListWorkflowExecutionsRequest{Query: passed}
	for {
		page, err := v.Client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list running workflows: %w", err)
		}
		for _, w := range page.GetExecutions() {
			changes, err := changesOf(w.GetSearchAttributes())
			if err != nil {
				return nil, fmt.Errorf("read the changes of workflow %s: %w", w.GetExecution().GetWorkflowId(), err)
			}
			if i := slices.IndexFunc(changes, func(c string) bool { return !v.knows(c) }); i >= 0 && len(unknown) < shown {
				unknown = append(unknown, w.GetExecution().GetWorkflowId()+" ("+changes[i]+")")
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return unknown, nil
		}
	}
}

func changesOf(attributes *commonpb.SearchAttributes) (changes []string, err error) {
	payload := attributes.GetIndexedFields()[changeVersion]
	if payload == nil {
		return nil, nil
	}
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &changes); err == nil {
		return changes, nil
	}
	changes = make([]string, 1) // a list of one may come back as its value
	return changes, converter.GetDefaultDataConverter().FromPayload(payload, &changes[0])
}

// knows reports whether this program has the change and its version.
func (v *Versions) knows(change string) bool {
	for name, newest := range v.Changes {
		if text, found := strings.CutPrefix(change, name+"-"); found {
			if number, err := strconv.Atoi(text); err == nil && number <= newest {
				return true
			}
		}
	}
	return false
}
