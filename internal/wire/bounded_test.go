package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

func TestBoundedCountsValuesAndLevelsOutsideOfTexts(t *testing.T) {
	t.Parallel()
	for text, fault := range map[string]string{
		`{"a":[1,2,3]}`: "",
		`"` + strings.Repeat(`[,{`, 1000) + `\"[[["`:              "",
		strings.Repeat("[", 64) + strings.Repeat("]", 64):         "",
		strings.Repeat("[", 65) + strings.Repeat("]", 65):         "more than 64 levels of JSON",
		"[" + strings.Repeat("0,", 200) + "0]":                    "require JSON of at most 100 values, found 202",
		`{"a":{"b":` + strings.Repeat(`{"c":1},`, 60) + `"d":1}}`: "at most 100 values",
	} {
		err := wire.Bounded([]byte(text), 100)
		if fault == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, fault)
	}
}
