package httpapi

import (
	"mime"
	"strings"
)

// Attachment returns the Content-Disposition of a file with a name that clients save it under (RFC 6266). The name is quoted, which the
// console's download of logs requires (openshift-assisted/assisted-installer-ui, ClustersService.ts).
func Attachment(name string) string {
	text := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	if value, found := strings.CutPrefix(text, "attachment; filename="); found && !strings.HasPrefix(value, `"`) {
		return `attachment; filename="` + value + `"`
	}
	return text
}
