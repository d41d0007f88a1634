package duesteps_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

func TestDocsOfSteps(t *testing.T) {
	t.Parallel()
	text := docpage.Title("Steps of discovery", "internal/cluster/duesteps") +
		"What a host is asked outside of an installation. Its workflow commands the steps of an installation, see\n" +
		"[steps and their results](../steps-and-results.md). All steps: [catalogue](step-catalogue.md).\n\n" +
		"## By status\nA poll gives out the steps of its row that are due, in this order. Seconds are those to the next " +
		"poll, 5 while an answer is expected;\n" +
		"an agent that prefers to wait is held instead.\n\n" +
		docpage.Table([]string{"host", "status", "steps", "next poll", "why"}, states()) +
		"## When a step is due again\nA step is due when it was never asked, when what its answer depends on has changed, " +
		"or when the answer is too old. " +
		"`sooner` holds in the\nstatuses in which a host lacks something (`insufficient`, `pending-for-input`, unbound).\n\n" +
		docpage.Table([]string{"step", "depends on", "answer holds", "sooner", "without an answer", "why"}, repetitions())
	docpage.Check(t, *update, "steps.md", text[:len(text)-1])
}

func states() [][]string {
	var rows [][]string
	for _, r := range duesteps.Table() {
		kind := strings.Join(texts(r.Kinds), ", ")
		if kind == "" {
			kind = "any"
		}
		next := fmt.Sprintf("%d s", r.Seconds)
		if r.Exit {
			next = "registers again"
		}
		rows = append(rows, []string{kind, docpage.Code(texts(r.Statuses), ""), docpage.Code(texts(r.Steps), "none"), next, r.Why})
	}
	return rows
}

func repetitions() [][]string {
	var rows [][]string
	for _, r := range duesteps.Repetitions() {
		on := r.On
		if r.PerStatus {
			on = "status"
		}
		rows = append(rows, []string{"`" + string(r.Step) + "`", on, span(r.Fresh, "no limit"), span(r.Eager, ""), span(r.Retry, ""), r.Why})
	}
	return rows
}

func texts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

func span(d time.Duration, zero string) string {
	if d == 0 {
		return zero
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
