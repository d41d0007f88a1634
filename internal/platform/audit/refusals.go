package audit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"slipway/internal/model"
)

// Refusals of one user are in rows one by one up to this: a user who may do nothing could fill the disk with them.
const (
	refusalsASecond = 5
	refusalsAtOnce  = 200
	// maxUsers is how many users are counted; beyond it counting begins anew.
	maxUsers = 10_000
)

// refusals counts the refused requests of each user. It is safe for concurrent use.
type refusals struct {
	now func() time.Time

	mu    sync.Mutex
	users map[string]*rate.Limiter
}

// take reports whether one more refusal of a user is written.
func (r *refusals) take(e *model.AuditEntry) bool {
	key := e.UserName + "\x00" + e.OrgID
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter, known := r.users[key]
	if !known {
		if len(r.users) >= maxUsers {
			clear(r.users)
		}
		limiter = rate.NewLimiter(refusalsASecond, refusalsAtOnce)
		r.users[key] = limiter
	}
	return limiter.AllowN(r.now(), 1)
}
