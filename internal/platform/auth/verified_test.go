package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
)

// Holds a token that was verified once to everything else, at each use.
func TestVerifiedTokensEndAsOthersDo(t *testing.T) {
	t.Parallel()
	token := func(l *lab) string {
		return l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{
			"infra_env_id": envID.String(), "iat": start.Unix(), "exp": start.Add(time.Hour).Unix(),
		})
	}
	for name, c := range map[string]struct {
		then    func(l *lab, token string) string
		refused string
	}{
		"nothing": {then: func(_ *lab, token string) string { return token }},
		"its time ends": {
			then:    func(l *lab, token string) string { l.now = start.Add(2 * time.Hour); return token },
			refused: "it has expired",
		},
		"the key of its InfraEnv is replaced": {
			then:    func(l *lab, token string) string { l.replaced = start.Add(time.Minute); return token },
			refused: "replaced",
		},
		"it is used with the claims of another": {
			then: func(l *lab, token string) string {
				other := l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{"infra_env_id": otherID.String()})
				parts, others := strings.Split(token, "."), strings.Split(other, ".")
				return parts[0] + "." + others[1] + "." + parts[2]
			},
			refused: "its signature is wrong",
		},
		"a byte of it changes": {
			then:    func(_ *lab, token string) string { return strings.Replace(token, "eyJ", "eyK", 1) },
			refused: "it cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, auth.ModeLocal)
			mine := token(l)
			for range 3 {
				caller, err := l.Caller(t.Context(), auth.SchemeAgent, mine)
				require.NoError(t, err)
				require.Equal(t, envID, caller.InfraEnvID)
			}
			after := c.then(l, mine)
			for range 3 {
				_, err := l.Caller(t.Context(), auth.SchemeAgent, after)
				if c.refused == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, c.refused)
			}
		})
	}
}
