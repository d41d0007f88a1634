package remaster_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

func TestAFullImageHasTheConfigAndTheArguments(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"x86_64", "aarch64", "ppc64le"} {
		t.Run(architecture, func(t *testing.T) {
			t.Parallel()
			o := isotest.Options{Architecture: architecture}
			b := build(t, o)
			l, err := b.Full(remaster.Parts{Ignition: []byte(config), KernelArguments: arguments})
			require.NoError(t, err)
			full := read(t, b.bytes(t, l))
			require.Equal(
				t,
				[]map[string]string{{"config.ign": "0100644 " + config}},
				archives(t, []byte(full.file("images/ignition.img"))),
			)

			text, areas := full.areas()
			require.Equal(t, isotest.DefaultKargs(o), text)
			require.NotEmpty(t, areas)
			own := b.own(t)
			for _, a := range areas {
				require.Equal(t, text+" rd.break=initqueue quiet", full.kargs(a))
				copy(full.content[a.Offset:a.Offset+a.Length], own[a.Offset:])
			}
			e := full.place("images/ignition.img")
			copy(full.content[e.Offset:e.Offset+e.Length], own[e.Offset:])
			require.True(t, bytes.Equal(own, full.content), "nothing but the areas is different")
		})
	}
}

func TestAFullImageWithoutPartsIsTheBase(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	l, err := b.Full(remaster.Parts{})
	require.NoError(t, err)
	require.True(t, bytes.Equal(b.own(t), b.bytes(t, l)))
	require.Equal(t, "rhcos-9.6.0", b.Label())
	require.EqualValues(t, 256<<10, b.IgnitionRoom())
}

func TestAnEarlierConfigLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	long := make([]byte, 100<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(long)
	l, err := b.Full(
		remaster.Parts{Ignition: long, KernelArguments: []model.KernelArgument{{Operation: "append", Value: strings.Repeat("x", 500)}}},
	)
	require.NoError(t, err)
	first := b.bytes(t, l)
	again, err := remaster.Inspect(bytes.NewReader(first), int64(len(first)))
	require.NoError(t, err)
	l, err = again.Full(
		remaster.Parts{
			Ignition:        []byte(config),
			KernelArguments: []model.KernelArgument{{Operation: "delete", Value: strings.Repeat("x", 500)}},
		},
	)
	require.NoError(t, err)
	second := read(t, base{again, bytes.NewReader(first)}.bytes(t, l))

	l, err = b.Full(remaster.Parts{Ignition: []byte(config)})
	require.NoError(t, err)
	require.True(t, bytes.Equal(b.bytes(t, l), second.content))
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{IgnitionRoom: 2048, KargsRoom: 100})
	noise := make([]byte, 3000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	_, err := b.Full(remaster.Parts{Ignition: noise})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 2048 bytes packed, found 31")
	require.ErrorContains(t, err, "shorten the Ignition config override")

	_, err = b.Full(remaster.Parts{KernelArguments: []model.KernelArgument{{Operation: "append", Value: strings.Repeat("x", 27)}}})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 100 bytes in")
	require.ErrorContains(t, err, "found 101;")
	_, err = b.Full(remaster.Parts{KernelArguments: []model.KernelArgument{{Operation: "append", Value: strings.Repeat("x", 26)}}})
	require.NoError(t, err, "the last byte can be used")

	_, err = b.Full(remaster.Parts{KernelArguments: []model.KernelArgument{{Operation: "append", Value: "a\nmenuentry"}}})
	require.ErrorIs(t, err, model.ErrInvalid)
}

func TestAnImageForS390XHasItsConfigInTheBootFile(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{Architecture: "s390x"})
	require.True(t, b.IsS390X())
	l, err := b.Full(remaster.Parts{Ignition: []byte(config)})
	require.NoError(t, err)
	full, own := read(t, b.bytes(t, l)), b.own(t)
	cdboot := []byte(full.file("images/cdboot.img"))
	require.Equal(t, []map[string]string{{"config.ign": "0100644 " + config}}, archives(t, cdboot[100<<10:100<<10+b.IgnitionRoom()]))
	at := full.place("images/cdboot.img").Offset + 100<<10
	copy(full.content[at:at+b.IgnitionRoom()], own[at:])
	require.True(t, bytes.Equal(own, full.content), "nothing but the area is different")

	_, err = b.Full(remaster.Parts{Ignition: []byte(config), KernelArguments: arguments})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "kernel arguments cannot be changed in an image for s390x")
	_, err = b.Minimal(b.file, remaster.MinimalOptions{RootfsURL: "http://images/rootfs"})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "there is no minimal image for s390x")
}

func TestTheInitramfsOfThePXEBootHasAllParts(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	parts := remaster.Parts{Ignition: []byte(config), Ramdisk: packedAs(t, "network", "1"), Nmstatectl: packedAs(t, "nmstatectl", "2")}
	l, err := b.PXEInitrd(parts)
	require.NoError(t, err)
	content, initrd := b.bytes(t, l), read(t, b.own(t)).file("images/pxeboot/initrd.img")
	require.Equal(t, initrd, string(content[:7001]))
	require.Equal(t, "\x00\x00\x00", string(content[7001:7004]), "members are aligned")
	require.Equal(t, []map[string]string{
		{"config.ign": "0100644 " + config}, {"network": "0100600 1"}, {"nmstatectl": "0100600 2"},
	}, archives(t, content[7004:]))

	parts.Ramdisk = nil
	l, err = b.PXEInitrd(parts)
	require.NoError(t, err)
	require.Len(t, archives(t, b.bytes(t, l)[7004:]), 1, "nmstatectl has nothing to do without settings")
}

func TestBootArtifactsAreFilesOfTheImage(t *testing.T) {
	t.Parallel()
	b, z := build(t, isotest.Options{RootfsSize: 200 << 10}), build(t, isotest.Options{Architecture: "s390x"})
	own := read(t, b.own(t))
	kernel, err := b.Kernel()
	require.NoError(t, err)
	require.Equal(t, own.file("images/pxeboot/vmlinuz"), string(b.bytes(t, kernel)))
	rootfs, err := b.Rootfs()
	require.NoError(t, err)
	require.Equal(t, own.file("images/pxeboot/rootfs.img"), string(b.bytes(t, rootfs)))
	_, err = b.InsFile()
	require.ErrorIs(t, err, model.ErrNotFound)
	_, err = b.AddrSize(b.file, 1)
	require.ErrorIs(t, err, model.ErrNotFound)

	own = read(t, z.own(t))
	kernel, err = z.Kernel()
	require.NoError(t, err)
	require.Equal(t, own.file("images/kernel.img"), string(z.bytes(t, kernel)))
	ins, err := z.InsFile()
	require.NoError(t, err)
	require.Contains(t, string(z.bytes(t, ins)), "images/kernel.img 0x00000000")
	initrd, err := z.PXEInitrd(remaster.Parts{Ignition: []byte(config)})
	require.NoError(t, err)
	size, err := z.AddrSize(z.file, initrd.Size())
	require.NoError(t, err)
	require.Equal(t, own.file("images/initrd.addrsize")[:8], string(size[:8]))
	require.EqualValues(t, initrd.Size(), binary.BigEndian.Uint64(size[8:]))
}

func TestATooSmallImageIsNotComplete(t *testing.T) {
	t.Parallel()
	err := build(t, isotest.Options{}).CheckSizes()
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "require images/pxeboot/rootfs.img of at least 104857600 bytes, found 65536")
	err = build(t, isotest.Options{RootfsSize: 100 << 20}).CheckSizes()
	require.ErrorContains(t, err, "require images/pxeboot/vmlinuz of at least 5242880 bytes, found 5000")
}
