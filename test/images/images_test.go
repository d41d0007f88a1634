package images_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

const version = "4.22"

// TestImages makes, downloads and compares the images of one environment. Its parts go by
// one service, which takes its time to start.
func TestImages(t *testing.T) {
	d := newDeployment(t)
	base := liveISO(t, "rhcos-422")
	live := readISO(t, base)
	address := built.FreeAddress(t)
	way := newGate(t, address)
	d.url = "http://" + address
	d.env = []string{
		"AUTH_TYPE=none", built.PlainHTTP,
		"SLIPWAY_DATA_DIR=" + filepath.Join(d.dir, "data"),
		"IMAGE_SERVICE_BASE_URL=http://" + way.Addr().String(),
		"OS_IMAGES=" + osImages(t, base),
	}
	up := d.start(t, "up", address, "up")
	built.WaitReady(t, d.url)
	secret := filepath.Join(d.dir, "pull-secret.json")
	require.NoError(t, os.WriteFile(secret, []byte(`{"auths":{"cloud.openshift.com":{"auth":"dTpw"}}}`), 0o600))
	d.slipway(t, "infra-env", "create", "lab", "--pull-secret", secret, "--kernel-arg", "quiet-please", "--kernel-arg=-ignition.firstboot")

	restart := func() { // ends with the whole test, not with the part that asks for it
		up.kill()
		d.start(t, "up", address, "up")
	}

	full := d.download(t, "full")
	t.Run("the full image is the live ISO but for the areas", func(t *testing.T) { requireFull(t, d, live, full) })
	t.Run(
		"the minimal image is the live ISO without the root file system",
		func(t *testing.T) { requireMinimal(t, d, live, d.download(t, "minimal")) },
	)
	t.Run("a machine boots the same over the network", func(t *testing.T) { requireNetworkBoot(t, d, live) })
	t.Run("a download outlives the service", func(t *testing.T) { requireOutlives(t, d, way, full, restart) })
	t.Run("another process makes the same images", func(t *testing.T) { requireSame(t, d, full) })
	t.Run("an image is added while the service runs", func(t *testing.T) { requireAdded(t, d) })
}

func osImages(t *testing.T, path string) string {
	t.Helper()
	list, err := json.Marshal(
		[]map[string]string{{"openshift_version": version, "cpu_architecture": "x86_64", "url": path, "version": "9.8.20260901-0"}},
	)
	require.NoError(t, err)
	return string(list)
}

// download fetches an image of the InfraEnv with the command line.
func (d *deployment) download(t *testing.T, kind string) string {
	t.Helper()
	file := filepath.Join(d.dir, kind+".iso")
	out := d.slipway(t, "image", "download", "lab", "--type", kind, "-f", file)
	require.Contains(t, out, kind+" image of lab: "+file)
	return file
}

// lab returns the InfraEnv.
func (d *deployment) lab(t *testing.T) wire.InfraEnv {
	t.Helper()
	var list []wire.InfraEnv
	require.NoError(t, json.Unmarshal([]byte(d.slipway(t, "infra-env", "list", "--output", "json")), &list))
	require.Len(t, list, 1)
	return list[0]
}

// get asks for an address, and closes the answer with the test.
func get(t *testing.T, address string) *http.Response {
	t.Helper()
	response, err := built.AnyCertificate.Get(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func read(t *testing.T, address string) []byte {
	t.Helper()
	response := get(t, address)
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s: %.200s", address, content)
	return content
}

// discovery returns the config that the service hands out for a type of image.
func (d *deployment) discovery(t *testing.T, kind string) string {
	t.Helper()
	return string(
		read(
			t,
			d.url+"/api/assisted-install/v2/infra-envs/"+d.lab(
				t,
			).ID.String()+"/downloads/files?file_name=discovery.ign&discovery_iso_type="+kind+"-iso",
		),
	)
}

func requireFull(t *testing.T, d *deployment, live *iso, file string) {
	image := readISO(t, file)
	areas := live.areas(t)
	require.Len(t, image.content, len(live.content))
	require.True(t, bytes.Equal(without(live.content, areas), without(image.content, areas)), "bytes outside the areas differ")
	require.Equal(t, d.discovery(t, "full"), string(image.ignition(t)))
	for _, path := range []string{"EFI/redhat/grub.cfg", "isolinux/isolinux.cfg"} {
		config := string(image.file(t, path))
		require.Contains(t, config, "quiet-please")
		require.NotContains(t, config, "ignition.firstboot")
	}
}

var rootfsURL = regexp.MustCompile(`coreos\.live\.rootfs_url="?([^"\s]+)`)

func requireMinimal(t *testing.T, d *deployment, live *iso, file string) {
	image := readISO(t, file)
	rootfs := live.file(t, "images/pxeboot/rootfs.img")
	_, found := image.File("images/pxeboot/rootfs.img")
	require.False(t, found)
	require.Less(t, len(image.content), len(live.content)-len(rootfs)+(4<<20))
	for _, path := range []string{"images/pxeboot/vmlinuz", "images/pxeboot/initrd.img", "images/efiboot.img"} {
		require.True(t, bytes.Equal(live.file(t, path), image.file(t, path)), path)
	}
	require.Equal(t, d.discovery(t, "minimal"), string(image.ignition(t)))
	for _, path := range []string{"EFI/redhat/grub.cfg", "isolinux/isolinux.cfg"} {
		config := string(image.file(t, path))
		require.Contains(t, config, "quiet-please")
		require.NotContains(t, config, "coreos.liveiso")
		address := rootfsURL.FindStringSubmatch(config)
		require.NotNil(t, address, config)
		require.True(t, bytes.Equal(rootfs, read(t, address[1])), "%s is not the root file system", address[1])
	}
}

var scriptAddresses = regexp.MustCompile(`(?s)initrd --name initrd (\S+)\nkernel (\S+) .*coreos\.live\.rootfs_url=(\S+)`)

// requireNetworkBoot follows the iPXE script as firmware and the kernel do.
func requireNetworkBoot(t *testing.T, d *deployment, live *iso) {
	script := string(read(t, d.url+"/api/assisted-install/v2/infra-envs/"+d.lab(t).ID.String()+"/downloads/files?file_name=ipxe-script"))
	addresses := scriptAddresses.FindStringSubmatch(script)
	require.NotNil(t, addresses, script)
	require.Contains(t, script, "quiet-please")
	initrd, kernel, rootfs := read(t, addresses[1]), read(t, addresses[2]), read(t, addresses[3])
	require.True(t, bytes.Equal(live.file(t, "images/pxeboot/vmlinuz"), kernel), "another kernel")
	require.True(t, bytes.Equal(live.file(t, "images/pxeboot/rootfs.img"), rootfs), "another root file system")
	own := live.file(t, "images/pxeboot/initrd.img")
	require.True(t, bytes.HasPrefix(initrd, own), "another initrd")
	require.Equal(t, d.discovery(t, "full"), string(configOf(t, bytes.TrimLeft(initrd[len(own):], "\x00"))))
}

// requireOutlives kills and starts the service while an image is on its way.
func requireOutlives(t *testing.T, d *deployment, way *gate, full string, restart func()) {
	file := filepath.Join(d.dir, "outlived.iso")
	way.hold(40 << 20)
	command := d.command("image", "download", "lab", "--type", "full", "-f", file)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	require.NoError(t, command.Start())
	select {
	case <-way.reached:
	case <-time.After(await.Limit(t)):
		_ = command.Process.Kill()
		_ = command.Wait()
		require.Fail(t, "the download did not get far", said.String())
	}
	restart()
	close(way.open)
	require.NoError(t, command.Wait(), said.String())
	require.Contains(t, said.String(), "the connection broke")
	require.Contains(t, said.String(), "resuming at ")
	require.NotContains(t, said.String(), "starting again")
	requireSameFile(t, full, file)
	built.WaitReady(t, d.url)
}

func requireSameFile(t *testing.T, want, got string) {
	t.Helper()
	a, errA := os.ReadFile(want)
	b, errB := os.ReadFile(got)
	require.NoError(t, errA)
	require.NoError(t, errB)
	require.True(t, bytes.Equal(a, b), "%s and %s differ", want, got)
}

// requireSame compares the images of `slipway images` with the images of `slipway up`.
func requireSame(t *testing.T, d *deployment, full string) {
	address := built.FreeAddress(t)
	d.start(t, "images", address, "images", "--service-url", d.url, "--data-dir", filepath.Join(d.dir, "others"))
	built.WaitReady(t, "http://"+address)
	image := strings.TrimSpace(d.slipway(t, "infra-env", "url", "lab"))
	path := image[strings.Index(image, "/byid/"):]
	for _, kind := range []string{"full", "minimal"} {
		path := path[:strings.LastIndex(path, "/")] + "/" + kind + ".iso"
		one, other := get(t, d.url+path), get(t, "http://"+address+path)
		require.Equal(t, http.StatusOK, one.StatusCode)
		require.Equal(t, http.StatusOK, other.StatusCode)
		require.NotEmpty(t, one.Header.Get("ETag"))
		require.Equal(t, one.Header.Get("ETag"), other.Header.Get("ETag"))
		content, err := io.ReadAll(other.Body)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(filepath.Dir(full), kind+".iso"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, content), "%s differs", path)

		request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
		require.NoError(t, err)
		request.Header.Set("Range", "bytes=-1000")
		request.Header.Set("If-Range", one.Header.Get("ETag"))
		end, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer end.Body.Close()
		content, err = io.ReadAll(end.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusPartialContent, end.StatusCode)
		require.Equal(t, want[len(want)-1000:], content)
	}
}

// requireAdded takes in an image that the settings do not have.
func requireAdded(t *testing.T, d *deployment) {
	added := liveISO(t, "rhcos-421")
	path := "/byid/" + d.lab(t).ID.String() + "/4.21/x86_64/full.iso"
	require.Equal(t, http.StatusNotFound, get(t, d.url+path).StatusCode)
	d.slipway(t, "images", "add", added, "--openshift-version", "4.21")
	image := filepath.Join(d.dir, "added.iso")
	require.NoError(t, os.WriteFile(image, read(t, d.url+path), 0o600))
	require.Equal(t, "rhcos-421", readISO(t, image).Label)
	require.Equal(t, d.discovery(t, "full"), string(readISO(t, image).ignition(t)))
}
