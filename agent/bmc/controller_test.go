package bmc_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/bmc"
	"slipway/internal/platform/hostexec"
)

// talk is a controller: what it answers to a command, both in hexadecimal ("0c 02: 01 03 00
// 00"). It refuses others as a controller refuses a parameter or channel it does not have.
type talk map[string]string

func (t talk) Ask(ctx context.Context, c bmc.Command) ([]byte, error) {
	const parameterOutOfRange = 0xc9
	line := hexadecimal(c.Function, c.Number) + ": " + hexadecimal(c.Data...)
	answer, known := t[line]
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case answer == "silence":
		return nil, context.DeadlineExceeded
	case !known:
		return nil, bmc.CompletionError(parameterOutOfRange)
	}
	return hex.DecodeString(strings.ReplaceAll(answer, " ", ""))
}

func (talk) Close() error { return nil }

func (t talk) controller() bmc.Controller {
	return bmc.Controller{Open: func() (bmc.Device, error) { return t, nil }}
}

func hexadecimal(content ...byte) string {
	var words []string
	for _, b := range content {
		words = append(words, hex.EncodeToString([]byte{b}))
	}
	return strings.Join(words, " ")
}

// with joins answers.
func with(all ...talk) talk {
	joined := talk{}
	for _, t := range all {
		for line, answer := range t {
			joined[line] = answer
		}
	}
	return joined
}

// Responses as IPMI 2.0, sections 22.24 and 23.2, has them: channel 1 is the bus of the
// board, 2 and 8 are Ethernet; the parameters of a network begin with revision 11.
var (
	bus      = talk{"06 42: 01": "01 01 01 00 f2 1b 00 00 00"}
	ethernet = talk{"06 42: 02": "02 04 01 80 f2 1b 00 00 00"}
	eighth   = talk{"06 42: 08": "08 04 01 80 f2 1b 00 00 00"}
	v4       = talk{"0c 02: 02 03 00 00": "11 c6 33 64 0c"} // 198.51.100.12
	none     = talk{"0c 02: 02 03 00 00": "11 00 00 00 00"}
	both     = talk{"0c 02: 02 33 00 00": "11 02", "0c 02: 02 37 00 00": "11 01 02 03"}
	// One static and two dynamic addresses, each with its number, origin, 64 bits of prefix and status.
	static  = talk{"0c 02: 02 38 00 00": "11 00 80 20 01 0d b8 00 0b 00 00 00 00 00 00 00 00 00 12 40 00"}
	off     = talk{"0c 02: 02 38 00 00": "11 00 00 20 01 0d b8 00 0b 00 00 00 00 00 00 00 00 00 12 40 00"}
	failed  = talk{"0c 02: 02 38 00 00": "11 00 80 20 01 0d b8 00 0b 00 00 00 00 00 00 00 00 00 12 40 03"}
	ownLink = talk{"0c 02: 02 3b 00 00": "11 00 01 fe 80 00 00 00 00 00 00 00 00 5e ff fe 10 00 99 40 00"}
	dynamic = talk{"0c 02: 02 3b 01 00": "11 01 02 20 01 0d b8 00 0b 00 00 00 00 00 00 00 00 0d 13 80 00"}
)

func TestAddressesAreThoseThatOthersReach(t *testing.T) {
	t.Parallel()
	const nothing = "invalid IP"
	for name, c := range map[string]struct {
		says   talk
		v4, v6 string
	}{
		"nothing but a bus":          {bus, nothing, nothing},
		"IPv4 on the second channel": {with(bus, ethernet, v4), "198.51.100.12", nothing},
		"no lease yet":               {with(ethernet, none), nothing, nothing},
		"a second network behind one without any": {
			with(ethernet, none, eighth, talk{"0c 02: 08 03 00 00": "11 c6 33 64 0b"}), "198.51.100.11", nothing,
		},
		"a static IPv6 address":                    {with(ethernet, v4, both, static), "198.51.100.12", "2001:db8:b::12"},
		"one that is switched off":                 {with(ethernet, both, off), nothing, nothing},
		"one that another station has":             {with(ethernet, both, failed), nothing, nothing},
		"a dynamic one before a static one":        {with(ethernet, both, static, ownLink, dynamic), nothing, "2001:db8:b::d13"},
		"an address of the link is of no use":      {with(ethernet, both, ownLink), nothing, nothing},
		"IPv6 that is switched off":                {with(ethernet, both, static, talk{"0c 02: 02 33 00 00": "11 00"}), nothing, nothing},
		"a response that is too short":             {with(ethernet, talk{"0c 02: 02 03 00 00": "11 c6 33"}), nothing, nothing},
		"a channel that is not a network has none": {with(talk{"06 42: 02": "02 05 01 80 f2 1b 00 00 00"}, v4), nothing, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found4, found6, err := c.says.controller().Addresses(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.v4, found4.String())
			require.Equal(t, c.v6, found6.String())
		})
	}
}

func TestAControllerThatDoesNotAnswerEndsTheSearch(t *testing.T) {
	t.Parallel()
	says := with(ethernet, v4, talk{"06 42: 03": "silence"}, eighth, talk{"0c 02: 08 33 00 00": "11 02"})
	found, _, err := says.controller().Addresses(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, "198.51.100.12", found.String(), "what was found before counts")
}

func TestThereMayBeNoController(t *testing.T) {
	t.Parallel()
	absent := errors.New("no such device")
	_, _, err := bmc.Controller{Open: func() (bmc.Device, error) { return nil, absent }}.Addresses(t.Context())
	require.ErrorIs(t, err, absent)

	_, _, err = bmc.Controller{Open: bmc.At(hostexec.Root(t.TempDir()))}.Addresses(t.Context())
	require.ErrorContains(t, err, "/dev/ipmi0")
}
