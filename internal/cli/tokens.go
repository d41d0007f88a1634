package cli

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
)

// TokenCommands are the commands below "token": tokens of users.
type TokenCommands struct {
	Connection

	Create createToken `cmd:"" help:"Make a token for a user, and print it."`
	List   listTokens  `cmd:"" help:"List the valid tokens: all for administrators, their own for users."`
	Revoke revokeToken `cmd:"" help:"End tokens at once."`
}

type createToken struct {
	Name    string        `arg:"" help:"Name of the user, who owns what is made with the token."`
	Role    string        `enum:"admin,user,viewer,kube" default:"user" help:"admin: everything; user: what belongs to its organization, or to itself without one; viewer: reads everything but secrets; kube: what slipway kube does with the objects of its organization."`
	Org     string        `help:"Organization of the user: its users have all of its clusters." placeholder:"NAME"`
	Note    string        `help:"What the token is for." placeholder:"TEXT"`
	Expires time.Duration `default:"720h" help:"How long the token is good: 1m to 8784h."`
}

// Run prints the token alone, for scripts.
func (k *createToken) Run(ctx context.Context, at *TokenCommands, t *Terminal) error {
	made, err := at.Client().CreateToken(ctx, wire.UserTokenCreateParams{
		UserName: k.Name, Role: k.Role, OrgID: k.Org, Note: k.Note, ExpirationSeconds: int64(k.Expires / time.Second),
	})
	if err != nil {
		return failed(at.URL, "make a token for "+k.Name, err)
	}
	if at.forPrograms() {
		return at.print(t, made)
	}
	t.note("token %s of %s, role %s, good until %s; it is shown once", made.ID, made.UserName, made.Role,
		made.ExpiresAt.Time().Format(time.RFC3339))
	t.printf("%s\n", made.Token)
	return nil
}

type listTokens struct{}

// Run prints the tokens.
func (k *listTokens) Run(ctx context.Context, at *TokenCommands, t *Terminal) error {
	tokens, err := at.Client().Tokens(ctx)
	if err != nil {
		return failed(at.URL, "list the tokens", err)
	}
	if at.forPrograms() {
		return at.print(t, tokens)
	}
	table := view.Table{Header: []string{"ID", "USER", "ROLE", "ORGANIZATION", "EXPIRES", "USED", "BY", "NOTE"}}
	for _, token := range tokens {
		used := "never"
		if token.LastUsedAt != nil {
			used = t.age(token.LastUsedAt.Time()) + " ago"
		}
		table.Add(token.ID.String(), token.UserName, token.Role, token.OrgID, token.ExpiresAt.Time().Format(time.RFC3339), used,
			token.CreatedBy, token.Note)
	}
	at.table(t, &table)
	return nil
}

type revokeToken struct {
	IDs []uuid.UUID `arg:"" name:"id" help:"Ids of tokens: 'token list' shows them."`
}

// Run ends the tokens.
func (k *revokeToken) Run(ctx context.Context, at *TokenCommands, t *Terminal) error {
	c := at.Client()
	for _, id := range k.IDs {
		if err := c.RevokeToken(ctx, id); err != nil {
			return failed(at.URL, "revoke token "+id.String(), err)
		}
		t.printf("token %s revoked\n", id)
	}
	return nil
}
