package images

import (
	"net/http"
	"path"
	"regexp"
	"strings"

	"slipway/internal/app/process"
)

// scriptPath is the address of an iPXE script in the v2 API.
var scriptPath = regexp.MustCompile(`^/api/assisted-install/v2/infra-envs/[0-9a-fA-F-]{36}/downloads/files$`)

// BootOnly lets through what a machine without HTTPS needs to boot into discovery: the iPXE script, kernel, initrd and root
// file system. Each checks credentials as over HTTPS.
func BootOnly(routes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !boots(r) {
			process.Answer(w, http.StatusNotFound, map[string]string{"status": "this is offered over HTTPS only"})
			return
		}
		routes.ServeHTTP(w, r)
	})
}

func boots(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.RawPath != "" || path.Clean(r.URL.Path) != r.URL.Path {
		return false
	}
	if scriptPath.MatchString(r.URL.Path) {
		files := r.URL.Query()["file_name"]
		return len(files) == 1 && files[0] == "ipxe-script"
	}
	return strings.HasPrefix(r.URL.Path, "/boot-artifacts/") ||
		strings.HasPrefix(r.URL.Path, "/images/") && strings.HasSuffix(r.URL.Path, "/pxe-initrd")
}
