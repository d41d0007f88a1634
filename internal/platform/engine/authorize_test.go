package engine_test

import (
	"crypto/x509/pkix"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/authorization"

	"slipway/internal/platform/engine"
)

func TestCallersWithoutTheCertificateHaveNoRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		info authorization.AuthInfo
		want authorization.Decision
	}{
		"of the authority":   {authorization.AuthInfo{TLSSubject: &pkix.Name{CommonName: "slipway"}}, authorization.DecisionAllow},
		"of another subject": {authorization.AuthInfo{TLSSubject: &pkix.Name{CommonName: "other"}}, authorization.DecisionDeny},
		"a token":            {authorization.AuthInfo{AuthToken: "Bearer x"}, authorization.DecisionDeny},
	} {
		claims, err := engine.NewClaimMapper(nil).GetClaims(&c.info)
		require.NoError(t, err)
		for _, method := range []string{
			"/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution",
			"/temporal.api.workflowservice.v1.WorkflowService/ListWorkflowExecutions",
			"/temporal.api.operatorservice.v1.OperatorService/AddSearchAttributes",
		} {
			target := &authorization.CallTarget{APIName: method, Namespace: "slipway"}
			result, err := authorization.NewDefaultAuthorizer().Authorize(t.Context(), claims, target)
			require.NoError(t, err)
			require.Equal(t, c.want, result.Decision, "%s: %s", name, method)
		}
	}
}
