package oci_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/deploy/images/oci"
)

// The lock of the repository has every package of the list for both architectures, once.
func TestLockHasThePackagesOfTheList(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../packages.lock")
	require.NoError(t, err)
	defer file.Close()
	lock, err := oci.ReadLock(file)
	require.NoError(t, err)
	locked := map[string]int{}
	for _, p := range lock.Packages {
		require.Contains(t, []string{"amd64", "arm64", "all"}, p.Architecture)
		architectures := 1
		if p.Architecture == "all" {
			architectures = 2
		}
		locked[p.Image+" "+p.Name] += architectures
	}
	list, err := os.Open("../packages.list")
	require.NoError(t, err)
	defer list.Close()
	listed := map[string]int{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			listed[line] = 2
		}
	}
	require.Equal(t, listed, locked)
}

func TestLocksThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for text, refusal := range map[string]string{
		"":                                  "require a line with a time and lines of packages",
		"time 20261127T164000Z\n":           "require a line with a time and lines of packages",
		"time today\n":                      "line 1: ",
		"# a comment\nboth amd64 libc6 1\n": `line 2: require image, architecture, package, version, archive, path and SHA-256, found "both`,
	} {
		_, err := oci.ReadLock(strings.NewReader(text))
		require.ErrorContains(t, err, refusal, "%q", text)
	}
}
