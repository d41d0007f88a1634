package store

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// clusterSecrets are the sealed values of a cluster row.
type clusterSecrets struct {
	PullSecret string `json:"pull_secret"`
}

// infraEnvSecrets are the sealed values of a discovery environment's row.
type infraEnvSecrets struct {
	PullSecret string `json:"pull_secret"`
	TokenKey   string `json:"token_key"`
}

func (s *Store) seal(secrets any, id uuid.UUID) ([]byte, error) {
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of %s: %w", id, err)
	}
	return s.sealer.Seal(plain, id[:]), nil
}

func (s *Store) open(sealed []byte, id uuid.UUID, into any) error {
	if len(sealed) == 0 {
		return nil
	}
	plain, err := s.sealer.Open(sealed, id[:])
	if err != nil {
		return fmt.Errorf("open secrets of %s (was the key replaced?): %w", id, err)
	}
	return json.Unmarshal(plain, into)
}
