package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// bucketServer is an object store with the API of S3, which checks signatures.
type bucketServer struct{ address string }

// The credentials of its only user, and the digest of a request without a body.
const (
	bucketUser, bucketSecret = "slipway", "the-secret-of-this-test"
	emptyDigest              = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// startBuckets runs the server of S3_SERVER with the buckets.
func startBuckets(t *testing.T, dir string, names ...string) bucketServer {
	t.Helper()
	program := os.Getenv("S3_SERVER")
	if program == "" {
		t.Skip("SKIP: this test needs S3_SERVER (make test-s3)")
	}
	port := built.FreePorts(t, 1)
	server := bucketServer{net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	data, attributes := filepath.Join(dir, "buckets"), filepath.Join(dir, "attributes")
	require.NoError(t, os.Mkdir(data, 0o700))
	require.NoError(t, os.Mkdir(attributes, 0o700))
	p := &part{
		name: "buckets", log: filepath.Join(dir, "buckets.log"),
		env:  []string{"ROOT_ACCESS_KEY=" + bucketUser, "ROOT_SECRET_KEY=" + bucketSecret},
		args: []string{"--port", server.address, "--region", "us-east-1", "posix", "--sidecar", attributes, data},
	}
	p.run(t, program)
	await.True(t, func() bool {
		c, err := net.Dial("tcp", server.address)
		return err == nil && c.Close() == nil
	})
	for _, name := range names {
		out, err := exec.Command("curl", "-sS", "--fail-with-body", "-X", "PUT", //nolint:gosec // our own arguments
			"-H", "x-amz-content-sha256: "+emptyDigest, "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", bucketUser+":"+bucketSecret,
			"http://"+server.address+"/"+name).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return server
}

// url returns the address of a bucket, or of an object in it.
func (s bucketServer) url(path string) string {
	return fmt.Sprintf("s3://%s?endpoint=http://%s&region=us-east-1&use_path_style=true", path, s.address)
}

// Files of a service and its backups are in buckets. A machine that has nothing but the credentials restores the newest backup into
// another bucket, and the installation that runs ends.
func TestFilesAndBackupsInBuckets(t *testing.T) {
	t.Parallel()
	dir := built.Folder(t, "buckets")
	buckets := startBuckets(t, dir, "files", "restored", "backups")
	passphrase := filepath.Join(dir, "passphrase")
	require.NoError(t, os.WriteFile(passphrase, []byte("correct horse battery\n"), 0o600))
	files := "SLIPWAY_BLOB_URL=" + buckets.url("files")
	f := newFleet(t, "AWS_ACCESS_KEY_ID="+bucketUser, "AWS_SECRET_ACCESS_KEY="+bucketSecret, files)
	s := shape{masters: 1, speed: 20}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "writing", stageOf("master-0", wire.HostStageWritingImageToDisk))

	opened := []string{"--data-dir", f.dataDir, "--backup-passphrase-file", passphrase}
	for range 2 {
		f.admin(t, append([]string{"backup", "--backup-keep", "1", "--backup-to", buckets.url("backups")}, opened...)...)
	}
	require.NoDirExists(t, filepath.Join(f.dataDir, "blobs"))

	release := f.service.hold(t, syscall.SIGKILL)
	require.NoError(t, os.RemoveAll(f.dataDir))
	f.service.set("SLIPWAY_BLOB_URL=" + buckets.url("restored"))
	said, err := f.tryAdmin(t, append([]string{"restore", buckets.url("restored")}, opened...)...)
	require.Error(t, err)
	require.Contains(t, said, "the bucket has no backups")
	said, err = f.tryAdmin(t, append([]string{"restore", buckets.url("backups")}, opened...)...)
	require.Error(t, err)
	require.NoDirExists(t, f.dataDir)
	_, newest, found := strings.Cut(strings.TrimSpace(said), "require the name of a backup: the newest is ")
	require.True(t, found, said)
	require.Regexp(t, `^s3://backups/slipway-\d{8}T\d{6}Z\.age\?`, newest)
	f.admin(t, append([]string{"restore", newest}, opened...)...)
	release()
	built.WaitReady(t, f.url)

	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.writtenOnce(t)
	require.Contains(t, f.typed(t, "cluster", "kubeconfig", f.name), "certificate-authority-data")
	require.NoDirExists(t, filepath.Join(f.dataDir, "blobs"))
}
