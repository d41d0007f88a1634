package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainWord is an argument that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./=:,@+-]+$`)

// kubectl runs commands of a user of the hub.
type kubectl struct {
	program    string
	kubeconfig string
	board      *board
}

// show prints a command, runs it and prints what it prints.
func (k *kubectl) show(ctx context.Context, args ...string) error {
	k.announce(args)
	out, err := k.run(ctx, args...)
	for line := range strings.Lines(out) {
		k.board.say("  %s", strings.TrimRight(line, "\n"))
	}
	return err
}

// announce prints a command as a user types it.
func (k *kubectl) announce(args []string) {
	words := []string{"$", "kubectl"}
	for _, arg := range args {
		if quoted, err := syntax.Quote(arg, syntax.LangBash); err == nil && !plainWord.MatchString(arg) {
			arg = quoted
		}
		words = append(words, arg)
	}
	k.board.say("%s", strings.Join(words, " "))
}

// run runs a command and returns what it prints.
func (k *kubectl) run(ctx context.Context, args ...string) (string, error) {
	command := k.command(ctx, args...)
	var out, problem bytes.Buffer
	command.Stdout, command.Stderr = &out, &problem
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return out.String(), nil
}

func (k *kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, k.program, args...) //nolint:gosec // of the folder that the user named
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig)
	return command
}
