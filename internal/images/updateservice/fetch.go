package updateservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"slipway/internal/cluster/openshift"
)

// graphPath is where the update service serves the graph of a channel.
const graphPath = "/api/upgrades_info/v1/graph"

// maxAnswer bounds how much of one reply is read: graphs have a few hundred kilobytes.
const maxAnswer = 32 << 20

// mostFailures is how many failed requests an error names.
const mostFailures = 3

// Fetch requests everything the sources name. Failed requests are in the error, one of them where there was no answer: the others are
// for the same address. The releases come from the successful ones.
func (s *Syncer) Fetch(ctx context.Context) (openshift.Releases, error) {
	var answers []openshift.Answer
	var failed []error
	for _, q := range openshift.Questions(s.Sources) {
		versions, err := s.graph(ctx, q)
		if err != nil {
			failed = append(failed, err)
			var noAnswer *url.Error
			if errors.As(err, &noAnswer) {
				break
			}
			continue
		}
		answers = append(answers, openshift.Answer{Question: q, Versions: versions})
	}
	if more := len(failed) - mostFailures; more > 0 {
		failed = append(failed[:mostFailures], fmt.Errorf("and %d more", more))
	}
	levels, err := s.lifeCycles(ctx)
	return openshift.ReleasesIn(answers, levels), errors.Join(append(failed, err)...)
}

func (s *Syncer) graph(ctx context.Context, q openshift.Question) ([]string, error) {
	query := url.Values{"channel": {q.ChannelName()}, "arch": {q.GraphArchitecture()}}
	text, err := s.get(ctx, s.UpdateService.JoinPath(graphPath), query)
	if err != nil {
		return nil, fmt.Errorf("ask for channel %s for %s: %w", q.ChannelName(), q.CPUArchitecture, err)
	}
	return openshift.ParseGraph(text)
}

// lifeCycles requests the support levels of each major version of the sources; without an address it returns
// none.
func (s *Syncer) lifeCycles(ctx context.Context) (map[string]string, error) {
	levels := map[string]string{}
	if s.LifeCycles == nil {
		return levels, nil
	}
	for _, major := range majors(s.Sources) {
		text, err := s.get(ctx, s.LifeCycles, url.Values{"name": {"Openshift Container Platform " + major}})
		if err != nil {
			return levels, fmt.Errorf("ask for life cycles of OpenShift %s: %w", major, err)
		}
		found, err := openshift.ParseLifeCycles(text)
		if err != nil {
			return levels, err
		}
		for version, level := range found {
			levels[version] = level
		}
	}
	return levels, nil
}

func (s *Syncer) get(ctx context.Context, address *url.URL, query url.Values) ([]byte, error) {
	u := *address
	u.RawQuery = query.Encode()
	text, _, err := Get(ctx, s.Client, &u, maxAnswer)
	return text, err
}

// Get reads the first bytes, at most so many, of what an address has, within 30 seconds; the status is zero when there
// was no response.
func Get(ctx context.Context, client *http.Client, address *url.URL, most int64) (text []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, 0, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Accept", "application/json, text/plain")
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err //nolint:wrapcheck // names method and address
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, fmt.Errorf("require status 200, found %s", response.Status)
	}
	if text, err = io.ReadAll(io.LimitReader(response.Body, most)); err != nil {
		return nil, response.StatusCode, fmt.Errorf("read answer: %w", err)
	}
	return text, response.StatusCode, nil
}
