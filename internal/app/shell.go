package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"

	"slipway/internal/app/process"
)

// completionCommand prints what a shell reads to complete commands, flags and names of objects.
type completionCommand struct {
	Shell   string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
	Program string `hidden:"" help:"Path of the program that completes; by default of this one. Packages name theirs."`
}

// completions are the scripts of the shells; each calls the program with the line in COMP_LINE (bash(1), "complete -C").
var completions = map[string]string{
	"bash": `complete -o default -C %[1]s slipway
`,
	"zsh": `autoload -U +X bashcompinit && bashcompinit
complete -o default -C %[1]s slipway
`,
	"fish": `function __complete_slipway
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    %[1]s
end
complete -f -c slipway -a "(__complete_slipway)"
`,
}

// Help explains where the output goes.
func (*completionCommand) Help() string {
	return `bash: source <(slipway completion bash), in ~/.bashrc
zsh: source <(slipway completion zsh), in ~/.zshrc
fish: slipway completion fish > ~/.config/fish/completions/slipway.fish`
}

// Run prints the script of a shell.
func (c *completionCommand) Run(p *process.Process) error {
	program := c.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return fmt.Errorf("find the path of this program: %w", err)
		}
	}
	fmt.Fprintf(p.Stdout, completions[c.Shell], "'"+strings.ReplaceAll(program, "'", `'\''`)+"'")
	return nil
}

// manCommand prints the manual page.
type manCommand struct{}

// Run prints roff: slipway man | man -l -
func (manCommand) Run(p *process.Process, model *kong.Application) error {
	fmt.Fprint(p.Stdout, mangokong.NewManPage(1, model).Build(roff.NewDocument()))
	return nil
}
