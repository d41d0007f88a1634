package imageservice_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/imageservice"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/isotest"
)

func TestImagesHaveWhatTheirEnvironmentSays(t *testing.T) {
	t.Parallel()
	path, base := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	e := s.infraEnv()
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{
		"kernel_arguments": []map[string]any{{"operation": "append", "value": "rd.break=initqueue"}},
	})
	full := images.get("/byid/" + e.ID.String() + "/4.22/x86_64/full.iso")
	require.Equal(t, http.StatusOK, full.Status, "%s", full.Body)
	require.Len(t, full.Body, len(base))
	config := configOf(t, fileOf(t, full.Body, "images/ignition.img"))
	want := s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=discovery.ign&discovery_iso_type=full-iso", nil)
	require.JSONEq(t, string(want.Body), config)
	require.Contains(t, string(fileOf(t, full.Body, "EFI/redhat/grub.cfg")), " rd.break=initqueue")
	require.Equal(t, `attachment; filename="`+e.ID.String()+`-discovery.iso"`, full.Header.Get("Content-Disposition"))
	require.Equal(t, "application/x-cd-image", full.Header.Get("Content-Type"))
	require.Equal(t, "no-store", full.Header.Get("Cache-Control"))
	require.NotEmpty(t, full.Header.Get("Last-Modified"))
	require.NotEmpty(t, full.Header.Get("X-Request-Id"))

	for _, same := range []string{
		"/images/" + e.ID.String() + "?version=4.22&type=full-iso", "/byid/" + e.ID.String() + "/4.22/amd64/full.iso",
		"//byid/" + e.ID.String() + "/4.22/x86_64/full.iso/",
	} {
		again := images.get(same)
		require.Equal(t, full.Header.Get("ETag"), again.Header.Get("ETag"), same)
		require.Equal(t, full.Body, again.Body, same)
	}
	disconnected := images.get("/byid/" + e.ID.String() + "/4.22/x86_64/disconnected.iso")
	require.Contains(t, disconnected.Reason(http.StatusConflict), "a cluster is required", "what the API refuses is handed on")

	minimal := images.get("/byid/" + e.ID.String() + "/4.22/x86_64/minimal.iso")
	require.Equal(t, http.StatusOK, minimal.Status, "%s", minimal.Body)
	grub := string(fileOf(t, minimal.Body, "EFI/redhat/grub.cfg"))
	require.Contains(t, grub, " rd.break=initqueue")
	rootfs := "/boot-artifacts/rootfs?arch=x86_64&version=4.22"
	require.Contains(t, grub, imageURL+rootfs)
	fetched := images.get(rootfs)
	require.Equal(t, http.StatusOK, fetched.Status)
	require.Equal(t, fileOf(t, base, "images/pxeboot/rootfs.img"), fetched.Body)
	require.Equal(t, "no-cache", fetched.Header.Get("Cache-Control"), "it has no secrets")
	require.Equal(t, fileOf(t, base, "images/pxeboot/vmlinuz"), images.get("/boot-artifacts/kernel?version=4.22").Body)
	require.Contains(t, images.get("/boot-artifacts/ins-file?version=4.22").Reason(http.StatusNotFound), "has no ins file")

	initrd := images.get("/images/" + e.ID.String() + "/pxe-initrd?version=4.22&arch=x86_64")
	require.Equal(t, http.StatusOK, initrd.Status)
	plain := fileOf(t, base, "images/pxeboot/initrd.img")
	require.True(t, bytes.HasPrefix(initrd.Body, plain))
	require.Contains(t, configOf(t, initrd.Body[(len(plain)+3)/4*4:]), `"ignition"`)
	images.get("/images/" + e.ID.String() + "/s390x-initrd-addrsize?version=4.22&arch=x86_64").Reason(http.StatusNotFound)
}

func TestImagesOfMainframes(t *testing.T) {
	t.Parallel()
	path, base := liveISO(t, isotest.Options{Architecture: "s390x"})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	e := s.infraEnv()
	initrd := images.get("/images/" + e.ID.String() + "/pxe-initrd?version=4.22&arch=s390x")
	require.Equal(t, http.StatusOK, initrd.Status, "%s", initrd.Body)
	size := images.get("/images/" + e.ID.String() + "/s390x-initrd-addrsize?version=4.22&arch=s390x").Body
	require.Equal(
		t,
		append(
			[]byte{0, 0, 0, 0, 2, 0, 0, 0},
			[]byte{0, 0, 0, 0, 0, byte(len(initrd.Body) >> 16), byte(len(initrd.Body) >> 8), byte(len(initrd.Body))}...),
		size,
	)
	require.Equal(t, fileOf(t, base, "generic.ins"), images.get("/boot-artifacts/ins-file?version=4.22&arch=s390x").Body)
	require.Equal(t, fileOf(t, base, "images/kernel.img"), images.get("/boot-artifacts/kernel?version=4.22&arch=s390x").Body)
	require.Contains(
		t,
		images.get("/byid/"+e.ID.String()+"/4.22/s390x/minimal.iso").Reason(http.StatusBadRequest),
		"there is no minimal image for s390x",
	)
}

func TestAnythingButAnImageIsExplained(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	id, long := s.infraEnv().ID.String(), strings.Repeat("a", 200)
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/images/" + id + "?type=full-iso": {
			400, "version is required, such as 4.22",
		},
		"/images/" + id + "?version=4.22": {
			400, "type: require one of full-iso, minimal-iso, disconnected-iso, found an empty value",
		},
		"/images/" + id + "?version=4.22&type=iso": {
			400, "type: require one of full-iso, minimal-iso, disconnected-iso, found iso",
		},
		"/images/" + id + "?version=4.22&type=full-iso&arch=mips": {
			400, `arch: require x86_64, arm64, aarch64, ppc64le or s390x, found "mips"`,
		},
		"/images/x?version=4.22&type=full-iso": {400, `infra_env_id: require a UUID, found "x"`},
		"/images/" + id + "?version=new&type=full-iso": {
			400, `openshift_version: require a version such as 4.22, found "new"`,
		},
		"/images/" + id + "?version=4.22.0-" + long + "&type=full-iso": {
			400, "version: require an OpenShift version of at most 128 bytes, found 207",
		},
		"/byid/" + id + "/4.22.0-" + long + "/x86_64/full.iso": {
			400, "version: require an OpenShift version of at most 128 bytes, found 207",
		},
		"/images/" + id + "?version=4.10&type=full-iso": {
			404, "no operating system image for OpenShift 4.10 (x86_64), available: 4.22.9 (ppc64le)",
		},
		"/byid/" + id + "/4.16/x86_64/disconnected.iso": {
			409, "config of a disconnected image", // the InfraEnv is asked first: see TestImagesAreDownloadedForNobodyWithoutACredential
		},
		"/byid/" + id + "/4.22/x86_64/other.iso": {
			404, `require one of the files full.iso, minimal.iso and disconnected.iso, found "other.iso"`,
		},
		"/byid/" + id + "/4.22/x86_64":                        {404, "no such address"},
		"/byid/" + uuid.NewString() + "/4.22/x86_64/full.iso": {404, "infra-env"},
		"/boot-artifacts/initrd?version=4.22": {
			404, `require one of the boot artifacts rootfs, kernel and ins-file, found "initrd"`,
		},
		"/boot-artifacts/kernel": {400, "version is required"},
		"/byid/" + id + "/4.22.9/ppc64le/full.iso": {
			503, "the operating system image of OpenShift 4.22.9 (ppc64le) waits for its download",
		},
		"/images/" + id + "/pxe-initrd?version=4.22.9&arch=ppc64le":    {503, "waits for its download"},
		"/boot-artifacts/rootfs?version=4.22.9&arch=ppc64le":           {503, "waits for its download"},
		"/images/" + id + "?version=4.22&type=full-iso&arch=aarch64":   {200, ""},
		"/images/" + id + "?version=4.22.3&type=full-iso&api_key=none": {200, ""},
	} {
		got := images.get(address)
		if want.status == http.StatusOK {
			require.Equal(t, want.status, got.Status, "%s: %s", address, got.Body)
			continue
		}
		require.Contains(t, got.Reason(want.status), want.text, address)
		require.Equal(t, want.status == http.StatusServiceUnavailable, got.Header.Get("Retry-After") != "", address)
		require.Empty(t, got.Header.Get("ETag"), address)
	}
	refused := images.ask(http.MethodPost, "/byid/"+id+"/4.22/x86_64/full.iso")
	refused.Reason(http.StatusMethodNotAllowed)
	require.Equal(t, "GET, HEAD", refused.Header.Get("Allow"))
	require.Equal(t, "bytes */"+images.ask(http.MethodHead, "/byid/"+id+"/4.22/x86_64/full.iso").Header.Get("Content-Length"),
		images.get("/byid/"+id+"/4.22/x86_64/full.iso", "Range", "bytes=999999999999-").Header.Get("Content-Range"))
	images.get("/byid/"+id+"/4.22/x86_64/full.iso", "Range", "bytes=999999999999-").Reason(http.StatusRequestedRangeNotSatisfiable)
	images.get("/byid/"+id+"/4.22/x86_64/full.iso", "If-Match", `"x"`).Reason(http.StatusPreconditionFailed)
}

func TestHeadAndRangesCostNoConfigWhenNothingChanged(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	e := s.infraEnv()
	address := "/byid/" + e.ID.String() + "/4.22/x86_64/full.iso"
	first := images.get(address, "X-Request-Id", "mine")
	require.Equal(t, []string{"mine", "mine", "mine"}, images.api.ids)
	require.Equal(t, map[string]int{"files OK": 1, "infra-env OK": 1, "files Not Modified": 1}, images.api.asked())
	tag := first.Header.Get("ETag")

	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		from := random.IntN(len(first.Body))
		to := min(from+random.IntN(1<<20), len(first.Body)-1)
		part := images.get(address, "Range", fmt.Sprintf("bytes=%d-%d", from, to), "If-Range", tag)
		require.Equal(t, http.StatusPartialContent, part.Status)
		require.True(t, bytes.Equal(first.Body[from:to+1], part.Body))
	}
	require.Equal(t, http.StatusOK, images.ask(http.MethodHead, address).Status)
	require.Equal(t, http.StatusNotModified, images.get(address, "If-None-Match", tag).Status)
	require.Equal(t, map[string]int{"files Not Modified": 22}, images.api.asked())

	s.want(
		http.StatusCreated,
		http.MethodPatch,
		envPath(e.ID),
		map[string]any{
			"ignition_config_override": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/mine","contents":{"source":"data:,x"}}]}}`,
		},
	)
	changed := images.get(address, "Range", "bytes=0-9", "If-Range", tag)
	require.Equal(t, http.StatusOK, changed.Status, "never a part of another image")
	require.NotEqual(t, tag, changed.Header.Get("ETag"))
	require.Contains(t, configOf(t, fileOf(t, changed.Body, "images/ignition.img")), "/etc/mine")
	require.Equal(t, map[string]int{"files OK": 1, "infra-env OK": 1, "files Not Modified": 1}, images.api.asked())
	require.Equal(t, http.StatusPreconditionFailed, images.get(address, "If-Match", tag).Status)

	s.want(http.StatusNoContent, http.MethodDelete, envPath(e.ID), nil)
	images.get(address).Reason(http.StatusNotFound)
}

// TestLongAddressesAreNotKept does not run beside others: it looks at the memory of the process.
func TestLongAddressesAreNotKept(t *testing.T) { //nolint:paralleltest // see above
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	id := s.infraEnv().ID.String()
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for patch := range 32 {
		address := fmt.Sprintf("/images/%s?version=4.22.%d&type=full-iso&arch=x86_64&pad=%s", id, patch, strings.Repeat("x", 900_000))
		require.Equal(t, http.StatusOK, images.ask(http.MethodHead, address).Status)
	}
	require.Less(t, used(), before+(16<<20))
}

func TestManyWhoComeAtOnceCostOneConfig(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	address := "/byid/" + s.infraEnv().ID.String() + "/4.22/x86_64/minimal.iso"
	replies := make(chan string, 20)
	for range cap(replies) {
		go func() {
			response, err := httpclient.New(t).Get(images.url + address)
			if err != nil {
				replies <- err.Error()
				return
			}
			defer response.Body.Close()
			n, err := io.Copy(io.Discard, response.Body)
			replies <- fmt.Sprint(response.StatusCode, n, err, response.Header.Get("ETag"))
		}()
	}
	first := <-replies
	require.Regexp(t, `^200 \d{6,} <nil>"`, first)
	for range cap(replies) - 1 {
		require.Equal(t, first, <-replies)
	}
	require.Less(t, images.api.asked()["minimal-initrd No Content"], 4)
}

func TestNetworkSettingsAreInMinimalImages(t *testing.T) {
	t.Parallel()
	path, base := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	require.NotContains(t, string(fileOf(t, base, "EFI/redhat/grub.cfg")), "assisted_installer_custom.img")
	// Hosts of 4.22 apply NMState themselves. This image has no nmstatectl to take out: they
	// get connections with their ramdisk.
	for _, version := range []string{"4.16", "4.22"} {
		var e struct{ ID uuid.UUID }
		s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{
			"name": "static-" + version, "pull_secret": pullSecret, "openshift_version": version, "static_network_config": []map[string]any{{
				"network_yaml": "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  ipv4:\n    enabled: true\n    dhcp: " +
					"false\n    address:\n    - ip: 192.0.2.10\n      prefix-length: 24\n",
				"mac_interface_map": []map[string]any{{"mac_address": "52:54:00:00:00:01", "logical_nic_name": "eth0"}},
			}},
		}).JSON(&e)
		ramdisk := s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil).Body
		minimal := images.get("/byid/" + e.ID.String() + "/" + version + "/x86_64/minimal.iso")
		require.Equal(t, http.StatusOK, minimal.Status, "%s", minimal.Body)
		require.True(t, bytes.HasPrefix(fileOf(t, minimal.Body, "images/assisted_installer_custom.img"), ramdisk))
		initrd := images.get("/images/" + e.ID.String() + "/pxe-initrd?version=" + version)
		require.True(t, bytes.Contains(initrd.Body, ramdisk))
		require.Contains(t, unzip(t, ramdisk), "eth0.nmconnection")
	}
}

// unzip returns the content of a ramdisk.
func unzip(t *testing.T, packed []byte) string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	content, err := io.ReadAll(plain)
	require.NoError(t, err)
	return string(content)
}

// slowReader asks for a file and takes only the beginning of the answer.
func slowReader(t *testing.T, url, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(16<<10))
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", address)
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 100))
	require.NoError(t, err)
	return conn
}

func TestReadersThatStopLoseTheirConnection(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{RootfsSize: 64 << 20})
	s := newService(t)
	images := newImageService(t, s, path, func(o *imageservice.Options) { o.Patience = 50 * time.Millisecond })
	address := "/byid/" + s.infraEnv().ID.String() + "/4.22/x86_64/full.iso"
	require.Equal(t, http.StatusOK, images.ask(http.MethodHead, address).Status)
	<-images.meter.ended
	slowReader(t, images.url, address)
	<-images.meter.ended
	require.Equal(t, 1, images.meter.counted()["full-iso broken"])
	await.True(t, func() bool { return strings.Contains(s.logged.String(), `"code":"broken"`) }, "the log says so")
}

func TestReadersAboveTheLimitComeAgain(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{RootfsSize: 64 << 20})
	s := newService(t)
	images := newImageService(t, s, path, func(o *imageservice.Options) { o.Bodies, o.Patience = 1, time.Hour })
	id := s.infraEnv().ID.String()
	address := "/byid/" + id + "/4.22/x86_64/full.iso"
	require.Equal(t, http.StatusOK, images.ask(http.MethodHead, address).Status)
	<-images.meter.ended
	slow := slowReader(t, images.url, address)
	images.api.asked()
	for _, path := range []string{address, "/boot-artifacts/rootfs?version=4.22"} {
		busy := images.get(path)
		require.Contains(t, busy.Reason(http.StatusServiceUnavailable), "the limit of 1 images that are sent at once is reached")
		require.Equal(t, "10", busy.Header.Get("Retry-After"))
		<-images.meter.ended
	}
	require.Empty(t, images.api.asked(), "nothing is looked up for those who are refused")
	require.NoError(t, slow.Close())
	<-images.meter.ended
	require.Equal(t, http.StatusOK, images.get(address).Status)
	<-images.meter.ended
	require.Equal(t, map[string]int{"full-iso 200": 2, "full-iso 503": 1, "rootfs 503": 1, "full-iso broken": 1}, images.meter.counted())
	require.Zero(t, images.meter.bodies)
	require.Equal(t, 2, images.meter.begun)
}

func TestReadersOfOneImageLeavePlacesForOthers(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{RootfsSize: 64 << 20})
	s := newService(t)
	images := newImageService(t, s, path, func(o *imageservice.Options) { o.Bodies, o.Patience = 4, time.Hour })
	file := func() string { return "/byid/" + s.infraEnv().ID.String() + "/4.22/x86_64/full.iso" }
	one, other := file(), file()
	for range 3 {
		slowReader(t, images.url, one)
	}
	refused := images.get(one, "Range", "bytes=0-9")
	require.Contains(t, refused.Reason(http.StatusServiceUnavailable), "has its share of the 4 images that are sent at once")
	require.Equal(t, "10", refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusPartialContent, images.get(other, "Range", "bytes=0-9").Status)
	require.Equal(t, http.StatusPartialContent, images.get("/boot-artifacts/rootfs?version=4.22", "Range", "bytes=0-9").Status)
}

// Files that need no credential count for the address that they are sent to.
func TestReadersOfBootArtifactsLeavePlacesForOthers(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{RootfsSize: 64 << 20})
	s := newService(t)
	images := newImageService(t, s, path, func(o *imageservice.Options) { o.Bodies, o.Patience = 4, time.Hour })
	const rootfs = "/boot-artifacts/rootfs?version=4.22"
	image := "/byid/" + s.infraEnv().ID.String() + "/4.22/x86_64/full.iso"
	for range 3 {
		slowReader(t, images.url, rootfs)
	}
	require.Contains(t, images.get(rootfs).Reason(http.StatusServiceUnavailable), "has its share of the 4 images")
	require.Equal(t, http.StatusPartialContent, images.get(image, "Range", "bytes=0-9").Status)
}

func TestAnAPIThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, func(o *imageservice.Options) { o.APIURL = "http://127.0.0.1:1" })
	away := images.get("/byid/" + uuid.NewString() + "/4.22/x86_64/full.iso")
	require.Contains(t, away.Reason(http.StatusServiceUnavailable), "try again; request id "+away.Header.Get("X-Request-Id"))
	require.NotEmpty(t, away.Header.Get("Retry-After"))
	require.Contains(t, s.logged.String(), `"level":"WARN"`)
	require.Equal(t, http.StatusOK, images.get("/boot-artifacts/kernel?version=4.22").Status, "what needs no API is there")
}

func TestALiveISOThatVanishesIsNoShortAnswer(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	s := newService(t)
	images := newImageService(t, s, path, nil)
	address := "/byid/" + s.infraEnv().ID.String() + "/4.22/x86_64/full.iso"
	require.Equal(t, http.StatusOK, images.get(address).Status)
	require.NoError(t, os.Remove(path))
	images.get(address).Reason(http.StatusServiceUnavailable)
}
