package cli

import (
	"context"
	"time"

	"slipway/internal/cli/view"
)

// UserCommands are the commands below "user": users of an issuer of OpenID Connect.
type UserCommands struct {
	Connection

	List   listUsers  `cmd:"" help:"List the users of an issuer who came, with their subjects."`
	Forget forgetUser `cmd:"" help:"Give the name of a user to whoever of the issuer comes with it next."`
}

type listUsers struct{}

// Run prints the users.
func (k *listUsers) Run(ctx context.Context, at *UserCommands, t *Terminal) error {
	users, err := at.Client().IssuerUsers(ctx)
	if err != nil {
		return failed(at.URL, "list the users", err)
	}
	if at.forPrograms() {
		return at.print(t, users)
	}
	table := view.Table{Header: []string{"NAME", "SUBJECT", "ISSUER", "SINCE"}}
	for _, u := range users {
		table.Add(u.Name, u.Subject, u.Issuer, u.CreatedAt.Time().Format(time.RFC3339))
	}
	at.table(t, &table)
	return nil
}

type forgetUser struct {
	Name string `arg:"" help:"Name of the user: 'user list' shows them."`
}

// Run frees a name.
func (k *forgetUser) Run(ctx context.Context, at *UserCommands, t *Terminal) error {
	if err := at.Client().ForgetIssuerUser(ctx, k.Name); err != nil {
		return failed(at.URL, "forget user "+k.Name, err)
	}
	t.printf("%s is the name of whoever of the issuer comes with it next; its tokens have ended\n", k.Name)
	return nil
}
