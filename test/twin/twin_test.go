package twin

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// beside is how many cases are played at once.
const beside = 12

// total counts the cases of one file.
type total struct{ recorded, compared, equal, deliberate, different int }

func (t total) String() string {
	return fmt.Sprintf("compared %d, equal %d, deliberate %d, different %d", t.compared, t.equal, t.deliberate, t.different)
}

// TestTwin plays every recorded case, or the cases of the files in TWIN_FILES. TWIN_REPORT names a file for the differences
// that no rule explains.
func TestTwin(t *testing.T) {
	s := start(t)
	used := map[string]bool{}
	var report []string
	var sum total
	for _, file := range files() {
		recorded, outcomes := playFile(t, s, file)
		count := total{recorded: recorded, compared: len(outcomes)}
		for _, o := range outcomes {
			left, explained := explain(o, used)
			switch {
			case len(left) > 0:
				count.different++
				for _, d := range left {
					report = append(report, fmt.Sprintf("%s\t%s\t%s", o.file, o.name, d))
				}
			case explained:
				count.deliberate++
			default:
				count.equal++
			}
		}
		fmt.Printf("%-15s %s\n", file, count)
		require.Equal(t, count.recorded, count.compared, "%s: cases that were not played", file)
		sum.compared += count.compared
		sum.equal += count.equal
		sum.deliberate += count.deliberate
		sum.different += count.different
	}
	fmt.Printf("%-15s %s\n", "total", sum)
	if path := os.Getenv("TWIN_REPORT"); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(report, "\n")+"\n"), 0o600))
	}
	if os.Getenv("TWIN_FILES") == "" {
		checkRules(t, used)
	}
	for _, line := range report {
		t.Error(line)
	}
}

// files lists the files to play: all, or the files of TWIN_FILES.
func files() []string {
	if names := os.Getenv("TWIN_FILES"); names != "" {
		return strings.Fields(names)
	}
	return []string{"verdicts", "install-config", "refusals", "catalogue"}
}

// checkRules fails for a rule that explains nothing.
func checkRules(t *testing.T, used map[string]bool) {
	t.Helper()
	for _, r := range rules {
		if !used[r.id] {
			t.Errorf("rule %s explains no difference", r.id)
		}
	}
}

// explain returns the differences that no rule explains, and whether a rule explained one.
func explain(o outcome, used map[string]bool) (left []difference, explained bool) {
	for _, d := range o.differences() {
		if id := explanation(o, d); id != "" {
			used[id], explained = true, true
			continue
		}
		left = append(left, d)
	}
	return left, explained
}

func explanation(o outcome, d difference) string {
	for _, r := range rules {
		if r.explain(o, d) {
			return r.id
		}
	}
	return ""
}

// playFile plays the cases of a file, several at once, and returns how many are recorded and the outcomes of the played ones.
func playFile(t *testing.T, s service, file string) (int, []outcome) {
	t.Helper()
	plays := cases(t, s, file)
	outcomes, errs := make([]outcome, len(plays)), make([]error, len(plays))
	var group sync.WaitGroup
	turns := make(chan struct{}, beside)
	for i, play := range plays {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			outcomes[i], errs[i] = play()
		})
	}
	group.Wait()
	var played []outcome
	for i, err := range errs {
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		played = append(played, outcomes[i])
	}
	return len(plays), played
}

func cases(t *testing.T, s service, file string) []func() (outcome, error) {
	t.Helper()
	var out []func() (outcome, error)
	if file == "catalogue" {
		var c catalogue
		require.NoError(t, readFile(file, &c))
		for _, q := range c.questions(s) {
			out = append(out, func() (outcome, error) {
				got, err := q.got()
				return outcome{file: file, name: q.name, want: flatten(q.want), got: flatten(got)}, err
			})
		}
		return out
	}
	var r recording
	require.NoError(t, readFile(file, &r))
	for _, c := range r.Cases {
		c := expand(c, r.Values).(map[string]any)
		out = append(out, func() (outcome, error) {
			if file == "refusals" {
				return playRefusals(s, c)
			}
			return playSettled(s, file, c)
		})
	}
	return out
}
