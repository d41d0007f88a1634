package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
)

// Backup says where backups are kept, and who opens them.
type Backup struct {
	To         string   `name:"backup-to" env:"SLIPWAY_BACKUP_TO" help:"Where backups are kept: a folder, or s3://BUCKET?region=..." placeholder:"PLACE"`
	Keep       uint     `name:"backup-keep" env:"SLIPWAY_BACKUP_KEEP" help:"How many backups are kept there; 0: all." placeholder:"NUMBER"`
	Recipients []string `name:"backup-recipients" env:"SLIPWAY_BACKUP_RECIPIENTS" help:"Keys of age or SSH that backups are encrypted for: age1..., ssh-ed25519 ..." placeholder:"KEY"`
	Passphrase string   `name:"backup-passphrase-file" env:"SLIPWAY_BACKUP_PASSPHRASE_FILE" type:"path" help:"File with the passphrase that backups are encrypted with." placeholder:"FILE"`
}

// Recipient returns who opens a backup, and, for a passphrase, what reads it back.
func (b Backup) Recipient() (recipients []age.Recipient, identities []age.Identity, err error) {
	switch {
	case b.Passphrase != "" && len(b.Recipients) > 0:
		return nil, nil, errors.New("--backup-passphrase-file cannot be combined with --backup-recipients")
	case b.Passphrase != "":
		text, err := passphrase(b.Passphrase)
		if err != nil {
			return nil, nil, err
		}
		recipient, err := age.NewScryptRecipient(text)
		if err != nil {
			return nil, nil, fmt.Errorf("read --backup-passphrase-file: %w", err)
		}
		identity, err := age.NewScryptIdentity(text)
		return []age.Recipient{recipient}, []age.Identity{identity}, err
	case len(b.Recipients) == 0:
		return nil, nil, errors.New("require --backup-passphrase-file or --backup-recipients: a backup opens all secrets of the service")
	}
	for _, text := range b.Recipients {
		var one age.Recipient
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "ssh-") {
			one, err = agessh.ParseRecipient(text)
		} else {
			one, err = age.ParseX25519Recipient(text)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read --backup-recipients: %w", err)
		}
		recipients = append(recipients, one)
	}
	return recipients, nil, nil
}

// Opening says what opens a backup.
type Opening struct {
	Passphrase string `name:"backup-passphrase-file" env:"SLIPWAY_BACKUP_PASSPHRASE_FILE" type:"path" help:"File with the passphrase of the backup." placeholder:"FILE"`
	Identity   string `name:"identity" type:"path" help:"File with a key of age (AGE-SECRET-KEY-1...) or SSH that the backup is encrypted for." placeholder:"FILE"`
}

// Identities returns them.
func (o Opening) Identities() ([]age.Identity, error) {
	switch {
	case o.Identity != "":
		text, err := os.ReadFile(o.Identity)
		if err != nil {
			return nil, fmt.Errorf("read --identity: %w", err)
		}
		if strings.HasPrefix(string(text), "-----BEGIN") {
			identity, err := agessh.ParseIdentity(text)
			if err != nil {
				return nil, fmt.Errorf("read --identity: %w", err)
			}
			return []age.Identity{identity}, nil
		}
		identities, err := age.ParseIdentities(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("read --identity: %w", err)
		}
		return identities, nil
	case o.Passphrase != "":
		text, err := passphrase(o.Passphrase)
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(text)
		if err != nil {
			return nil, fmt.Errorf("read --backup-passphrase-file: %w", err)
		}
		return []age.Identity{identity}, nil
	}
	return nil, errors.New("require --backup-passphrase-file or --identity: backups are encrypted")
}

// leastPassphrase is the least number of characters: the file is read by programs, so it can be long.
const leastPassphrase = 12

// passphrase reads the first line of a file.
func passphrase(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read --backup-passphrase-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSuffix(line, "\r")
	if len(line) < leastPassphrase {
		return "", fmt.Errorf("read --backup-passphrase-file: require at least %d characters in the first line, found %d",
			leastPassphrase, len(line))
	}
	return line, nil
}
