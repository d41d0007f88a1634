package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestPartitionsAreSavedInEverySpellingOfCoreosInstaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, labels, indexes []string }{
		"a label":                  {args: []string{"--save-partlabel", "data"}, labels: []string{"data"}},
		"a label after a sign":     {args: []string{"--save-partlabel=data*"}, labels: []string{"data*"}},
		"labels in one word":       {args: []string{"--save-partlabel=data,logs-*"}, labels: []string{"data", "logs-*"}},
		"labels in many arguments": {args: []string{"--save-partlabel", "a", "--save-partlabel=b"}, labels: []string{"a", "b"}},
		"a number":                 {args: []string{"--save-partindex", "5"}, indexes: []string{"5"}},
		"a range without an end":   {args: []string{"--save-partindex=5-"}, indexes: []string{"5-"}},
		"a range without a begin":  {args: []string{"--save-partindex", "-7"}, indexes: []string{"-7"}},
		"numbers in one word":      {args: []string{"--save-partindex", "1-5,7"}, indexes: []string{"1-5", "7"}},
		"both": {
			args:   []string{"-n", "--save-partindex=5-", "--append-karg", "a=b", "--save-partlabel", "x"},
			labels: []string{"x"}, indexes: []string{"5-"},
		},
		"a sign within a label": {args: []string{"--save-partlabel=a=b"}, labels: []string{"a=b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			labels, indexes := model.SavedPartitions(c.args)
			require.Equal(t, c.labels, labels)
			require.Equal(t, c.indexes, indexes)
			require.True(t, model.SavesPartitions(c.args))
		})
	}
}

func TestOtherArgumentsSaveNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil,
		{"--append-karg", "--save-partlabel"},
		{"--append-karg=--save-partlabel=x"},
		{"--preserve-on-error"},
		{"-n", "--copy-network"},
		{"--append-karg", "-c"},
		{"-nuhttps://example.com/c"},
		{"-f", "-c"},
		{"--append-karg"},
	} {
		require.False(t, model.SavesPartitions(args), args)
	}
}

func TestConfigFilesMaySavePartitions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--config-file", "/etc/x"}, {"--config-file=/etc/x"}, {"-c", "/etc/x"}, {"-c/etc/x"}, {"-nc", "/etc/x"}, {"-f", "image", "-c", "x"},
	} {
		require.True(t, model.SavesPartitions(args), args)
	}
}
