package remaster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

// changes makes a change of each pair of operation and value.
func changes(pairs ...string) []model.KernelArgument {
	var out []model.KernelArgument
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, model.KernelArgument{Operation: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func TestArgumentsAreChangedInOrder(t *testing.T) {
	t.Parallel()
	own := []string{"a", "console=tty0", "console=ttyS0", "b=1", "console=tty0"}
	for name, test := range map[string]struct {
		changes []model.KernelArgument
		want    []string
	}{
		"nothing changes without changes":   {nil, own},
		"append puts it last, even again":   {changes("append", "a"), append(own[:5:5], "a")},
		"delete takes all that are equal":   {changes("delete", "console=tty0"), []string{"a", "console=ttyS0", "b=1"}},
		"delete of another changes nothing": {changes("delete", "console"), own},
		"replace takes all with the value": {
			changes("replace", "console=tty0=tty1"), []string{"a", "console=tty1", "console=ttyS0", "b=1", "console=tty1"},
		},
		"replace keeps what follows an equal": {
			changes("replace", "b=1=x=y"), []string{"a", "console=tty0", "console=ttyS0", "b=x=y", "console=tty0"},
		},
		"replace without a value is no change": {changes("replace", "b=1"), own},
		"one change sees the one before":       {changes("append", "c", "delete", "c"), own},
	} {
		require.Equal(t, test.want, remaster.ChangedArguments(own, test.changes), name)
	}
	require.Equal(t, []string{"a", "console=tty0", "console=ttyS0", "b=1", "console=tty0"}, own, "the given ones stay as they are")
}

func TestAllOperationsChangeTheArgumentsOfAnImage(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	l, err := b.Full(remaster.Parts{KernelArguments: changes(
		"delete",
		"ignition.firstboot",
		"replace",
		"ignition.platform.id=metal=qemu",
		"append",
		`note="a  b"`,
		"append",
		"url=http://x/?a=1&b=2",
		"append",
		`note="a  b"`,
	)})
	require.NoError(t, err)
	d := read(t, b.bytes(t, l))
	_, areas := d.areas()
	require.Len(t, areas, 2)
	require.Equal(
		t,
		`coreos.liveiso=rhcos-9.6.0 ignition.platform.id=qemu note="a  b" url=http://x/?a=1&b=2 note="a  b"`,
		d.kargs(areas[0]),
		"isolinux takes a line as it is",
	)
	require.Equal(
		t,
		`coreos.liveiso=rhcos-9.6.0 ignition.platform.id=qemu note="a  b" 'url=http://x/?a=1&b=2' note="a  b"`,
		d.kargs(areas[1]),
		"GRUB ends a command at &",
	)
}
