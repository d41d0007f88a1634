package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"
	"github.com/posener/complete"

	"slipway/internal/cli/view"
	"slipway/internal/client"
)

// completionTime is how long a shell waits for names of the service.
const completionTime = 2 * time.Second

// Predictors complete the names of objects, by the tags "predictor" of arguments and flags. They ask the service that the line names; one
// that does not answer has no names.
func Predictors(ctx context.Context) map[string]complete.Predictor {
	names := func(read func(context.Context, *client.Client) ([]string, error)) complete.Predictor {
		return complete.PredictFunc(func(a complete.Args) []string {
			ctx, cancel := context.WithTimeout(ctx, completionTime)
			defer cancel()
			service, err := serviceOf(a.All)
			if err != nil {
				return nil
			}
			found, err := read(ctx, service.Client())
			if err != nil {
				return nil
			}
			return found
		})
	}
	return map[string]complete.Predictor{
		"cluster": names(func(ctx context.Context, c *client.Client) ([]string, error) {
			all, err := c.ListClusters(ctx, false)
			return textsOf(all, func(n int) string { return all[n].Name }), err
		}),
		"deleted-cluster": names(func(ctx context.Context, c *client.Client) ([]string, error) {
			all, err := c.DeletedClusters(ctx)
			return textsOf(all, func(n int) string { return all[n].Name }), err
		}),
		"infra-env": names(func(ctx context.Context, c *client.Client) ([]string, error) {
			all, err := c.ListInfraEnvs(ctx, uuid.Nil)
			return textsOf(all, func(n int) string { return all[n].Name }), err
		}),
		"host": names(func(ctx context.Context, c *client.Client) ([]string, error) {
			all, err := scope{}.hosts(ctx, c)
			return textsOf(all, func(n int) string { return view.HostName(&all[n]) }), err
		}),
		"context": complete.PredictFunc(func(complete.Args) []string {
			_, file, err := readContexts("")
			if err != nil {
				return nil
			}
			return textsOf(file.Contexts, func(n int) string { return file.Contexts[n].Name })
		}),
	}
}

func textsOf[T any](all []T, text func(n int) string) []string {
	out := make([]string, len(all))
	for n := range all {
		out[n] = text(n)
	}
	return out
}

// serviceFlags name a service in a line that is being typed.
var serviceFlags = []string{"--url", "--context", "--config", "--ca-file", "--data-dir", "--token"}

// serviceOf returns the service of a line: of its flags, or of the environment and the contexts.
func serviceOf(line []string) (*Service, error) {
	var flags []string
	for n, word := range line {
		name, _, whole := strings.Cut(word, "=")
		if !slices.Contains(serviceFlags, name) {
			continue
		}
		if flags = append(flags, word); !whole && n+1 < len(line) {
			flags = append(flags, line[n+1])
		}
	}
	var of struct{ Service }
	parser, err := kong.New(&of, Options()...)
	if err == nil {
		_, err = parser.Parse(flags)
	}
	return &of.Service, err
}
