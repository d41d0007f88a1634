package cli

import (
	"bufio"
	"errors"
	"strings"
)

var errNotConfirmed = errors.New("nothing was changed: the question was not answered with y")

// confirmation is for commands that take away what cannot be brought back.
type confirmation struct {
	Yes bool `short:"y" help:"Do not ask."`
}

// confirm asks on a terminal what a command takes away. Without a terminal --yes is required.
func (k confirmation) confirm(t *Terminal, what string) error {
	if k.Yes {
		return nil
	}
	if t.In == nil {
		return usagef("%s: require --yes without a terminal", what)
	}
	t.prompt(what + ". Continue? [y/N] ")
	answer, _ := bufio.NewReader(t.In).ReadString('\n') // no answer is a no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &Failure{errNotConfirmed, exitFailed}
}
