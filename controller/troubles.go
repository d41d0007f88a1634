package controller

import (
	"context"
	"log/slog"
)

// troubles logs an error when it first comes and when it is over, not in every round.
type troubles struct {
	log  *slog.Logger
	last map[string]string // error text by what was done
}

func (t *troubles) note(ctx context.Context, doing string, err error) {
	if t.last == nil {
		t.last = map[string]string{}
	}
	before := t.last[doing]
	switch {
	case err == nil && before != "":
		delete(t.last, doing)
		t.log.InfoContext(ctx, "trouble over", "doing", doing)
	case err != nil && err.Error() != before:
		t.last[doing] = err.Error()
		t.log.WarnContext(ctx, "trouble", "doing", doing, "error", err)
	}
}
