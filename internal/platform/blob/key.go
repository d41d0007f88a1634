package blob

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Limits of a key in bytes, accepted by every file system and by S3.
const (
	maxKey     = 1000
	maxSegment = 200
)

// ClusterFolder returns the folder of the files of a cluster: clusters/<id>.
func ClusterFolder(cluster uuid.UUID) string { return "clusters/" + cluster.String() }

// ClusterFile returns the key of a file of a cluster, such as "kubeconfig" or "manifests/openshift/x.yaml".
func ClusterFile(cluster uuid.UUID, name string) string { return ClusterFolder(cluster) + "/" + name }

// leftover matches the temporary file that a killed process leaves beside an object (fileblob: key, nanoseconds
// in hex, .tmp).
var leftover = regexp.MustCompile(`\.[0-9a-f]{15,16}\.tmp$`)

// checkKey accepts keys that name the same object on every backend and cannot leave the store: segments of
// printable text between single slashes.
func checkKey(key string) error {
	switch {
	case key == "" || len(key) > maxKey:
		return model.Invalidf("require an object key of 1 to %d bytes, found %d", maxKey, len(key))
	case !utf8.ValidString(key):
		return model.Invalidf("require an object key in UTF-8, found %q", key)
	case leftover.MatchString(key):
		return model.Invalidf("require an object key that is not a temporary file, found %q", key)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." || len(segment) > maxSegment {
			return model.Invalidf("require an object key of names separated by slashes, found %q", key)
		}
		if strings.ContainsFunc(segment, unsafeRune) {
			return model.Invalidf("require an object key of printable text without backslashes, found %q", key)
		}
	}
	return nil
}

func unsafeRune(r rune) bool { return r == '\\' || !unicode.IsGraphic(r) }
