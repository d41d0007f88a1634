package store

import "github.com/google/uuid"

// DropOperators forgets the operators of a type that a cluster does not wait for any
// more: all but those kept.
func (t *Tx) DropOperators(clusterID uuid.UUID, kind string, keep []string) {
	t.batch.Queue(`
		delete from monitored_operators
		where cluster_id = $1
		  and type = $2
		  and name <> all ($3)`, clusterID, kind, keep)
}
