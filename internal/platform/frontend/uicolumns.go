package frontend

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// columnsKey is the place in a browser where the pages keep the columns of their lists of workflows:
// {NAMESPACE: [{"label": COLUMN}, ...]}. The module has no setting for it.
const columnsKey = "namespace-workflow-table-columns"

// listColumns are the columns of a list that its user has not changed yet. The module's own are ids. Status is Temporal's, State our
// search attribute: a workflow that was terminated keeps the state that it had. Type and Workflow ID are links.
var listColumns = []string{"Status", "State", "Type", "ClusterName", "HostName", "WaitingFor", "Start", "End", "Workflow ID"}

// withColumns adds a script to the start page that sets the columns in a browser that has none. When a later version of the
// module keeps them elsewhere, its lists have its own columns.
func withColumns(page []byte, namespace string) ([]byte, error) {
	type column struct {
		Label string `json:"label"`
	}
	columns := make([]column, len(listColumns))
	for i, label := range listColumns {
		columns[i].Label = label
	}
	value, err := json.Marshal(map[string][]column{namespace: columns})
	if err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	text, err := json.Marshal(string(value)) // which escapes what would end the script
	if err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	script := fmt.Sprintf(`<script>try { localStorage.getItem(%q) ?? localStorage.setItem(%[1]q, %s) } catch {}</script>`, columnsKey, text)
	return bytes.Replace(page, []byte("</head>"), []byte(script+"</head>"), 1), nil
}
