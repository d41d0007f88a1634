package built

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// EndListed ends what a script left running, by its list of process ids. There need be no list.
func EndListed(t *testing.T, file string) {
	t.Helper()
	list, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for word := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}
