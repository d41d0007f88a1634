package engine

import (
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
)

// claimMapper gives every right to callers with a certificate of the authority, and none to others. The listeners refuse
// those already; this is for the day when one does not.
type claimMapper struct{}

func newClaimMapper(*config.Config) authorization.ClaimMapper { return claimMapper{} }

// GetClaims implements authorization.ClaimMapper. The server verifies the certificate before it reads the subject.
func (claimMapper) GetClaims(info *authorization.AuthInfo) (*authorization.Claims, error) {
	if info.TLSSubject == nil || info.TLSSubject.CommonName != clientName {
		return &authorization.Claims{}, nil
	}
	return &authorization.Claims{Subject: clientName, System: authorization.RoleAdmin}, nil
}
