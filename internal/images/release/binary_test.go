package release_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

func TestReleasesOfAnotherArchitectureAreInstalledByTheirArtifacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, release string }{
		{"amd64", "arm64"}, {"amd64", "ppc64le"}, {"amd64", "s390x"}, {"arm64", "amd64"},
	} {
		t.Run(c.release+" on "+c.service, func(t *testing.T) {
			t.Parallel()
			p := serve(t, payload.Options{Architecture: c.release, HostArchitecture: c.service})
			r, dir := open(t, p, func(o *release.Options) { o.Architecture = c.service })
			i, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "baremetal", PullSecret: pullSecret})
			require.NoError(t, err)
			defer i.Close()
			require.Regexp(t, `^[0-9a-f]{64}-linux_`+c.service+`-openshift-install$`, programs(t, dir)[0])
			out, err := i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 1)})
			require.NoError(t, err)
			require.NotEmpty(t, out.Bootstrap)
		})
	}
}

func TestReleasesWithoutAProgramForTheServiceAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ version, service, release, want string }{
		"no artifact for the architecture of the service": {
			"4.20.33", "ppc64le", "arm64",
			"release 4.20.33 for linux/arm64: require a service on linux/amd64, linux/arm64 or the architecture of the release: " +
				"the release has no openshift-install for linux/ppc64le",
		},
		"bare metal of an old release": {
			"4.15.50", "amd64", "arm64",
			"release 4.15.50 for linux/arm64: bare metal before OpenShift 4.16 requires the image baremetal-installer, " +
				"whose program is for linux/arm64 only; this service runs on linux/amd64",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, payload.Options{Versions: []string{c.version}, Architecture: c.release, HostArchitecture: c.service})
			r, _ := open(t, p, func(o *release.Options) { o.Architecture = c.service })
			_, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage(c.version), Platform: "baremetal", PullSecret: pullSecret})
			require.ErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// aarch64 is the header of a program that no machine of another architecture starts (System V ABI, "ELF header").
const aarch64 = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00\x01\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func TestProgramsThatCannotRunAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	for n, c := range []struct {
		name, program string
		retry         bool
		want          string
	}{
		{
			"a program of another architecture", aarch64, false,
			"require an openshift-install for linux/amd64, which this service runs on, found one for linux/arm64 in release 4.20.33",
		},
		{
			"a program whose loader is missing", "#!/no/such/loader\n", false,
			"require the libraries of RHEL on the machine of this service",
		},
		{"a program that crashes", "#!/bin/sh\nkill -SEGV $$\n", false, "segmentation fault"},
		{"a program that is killed", "#!/bin/sh\nkill -KILL $$\n", true, "killed"},
		{"a program that refuses", "#!/bin/sh\nexit 3\n", false, "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, _ := open(t, p, nil)
			layer := []entry{regular("usr/bin/openshift-install", c.program)}
			image := references(t, p, fmt.Sprintf("broken-%d", n), push(t, p, fmt.Sprintf("broken-installer-%d", n), layer))
			i, err := r.Installer(t.Context(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
			require.NoError(t, err)
			defer i.Close()
			_, err = i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
			var failure *release.GenerateError
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.retry, failure.Retryable())
		})
	}
}

func TestClustersInFIPSModeTakeTheProgramThatCan(t *testing.T) {
	t.Parallel()
	const skip = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true"
	for name, c := range map[string]struct {
		hostFIPS    bool
		environment []string
		program     string // in the cache
		want        string // of the error; empty: generated
	}{
		"on a machine in FIPS mode":      {true, nil, "-openshift-baremetal-install", ""},
		"elsewhere, where it is skipped": {false, []string{skip}, "-openshift-install", ""},
		"elsewhere":                      {false, nil, "-openshift-install", "fips: Forbidden: target cluster is in FIPS mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, payload.Options{HostFIPS: c.hostFIPS})
			r, dir := open(t, p, func(o *release.Options) { o.HostFIPS, o.Environment = c.hostFIPS, c.environment })
			i, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", FIPS: true, PullSecret: pullSecret})
			require.NoError(t, err)
			defer i.Close()
			require.Regexp(t, `^[0-9a-f]{64}`+c.program+`$`, programs(t, dir)[0])
			config := installConfigOf(t, 3, 1, func(m *model.Cluster) { m.SSHPublicKey, m.InstallConfigOverride = ecdsaKey, `{"fips":true}` })
			_, err = i.Generate(t.Context(), release.GenerateInput{InstallConfig: config})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var failure *release.GenerateError
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, c.want)
			require.False(t, failure.Retryable())
		})
	}
	p := serve(t, payload.Options{Architecture: "arm64", HostArchitecture: "amd64"})
	r, _ := open(t, p, func(o *release.Options) { o.HostFIPS = true })
	_, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", FIPS: true, PullSecret: pullSecret})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "FIPS mode requires the image baremetal-installer, whose program is for linux/arm64 only")
}

// The program and the message of its loader are real: it is linked against a library that is gone when it runs.
func TestMissingLibraryIsNamedWithItsPackage(t *testing.T) {
	t.Parallel()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIP: require a C compiler to link a program against a library")
	}
	p := serve(t, payload.Options{})
	for n, c := range []struct{ library, want, wantNot string }{
		{"libvirt.so.0", "machine of this service; its package is libvirt-libs on RHEL and Fedora, libvirt0 on Debian and Ubuntu", "exit status"},
		{"libother.so.7", "libother.so.7, which openshift-install of release 4.20.33 is linked against, is missing", "package is"},
	} {
		t.Run(c.library, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"lib.c": "int f(void) { return 0; }\n", "main.c": "int f(void); int main(void) { return f(); }\n",
			} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			for _, args := range [][]string{
				{"-shared", "-Wl,-soname," + c.library, "-o", c.library, "lib.c"}, {"-o", "program", "main.c", c.library},
			} {
				command := exec.CommandContext(t.Context(), compiler, args...)
				command.Dir = dir
				said, err := command.CombinedOutput()
				require.NoError(t, err, string(said))
			}
			program, err := os.ReadFile(filepath.Join(dir, "program"))
			require.NoError(t, err)
			r, _ := open(t, p, nil)
			layer := []entry{regular("usr/bin/openshift-install", string(program))}
			image := references(t, p, fmt.Sprintf("unlinked-%d", n), push(t, p, fmt.Sprintf("unlinked-installer-%d", n), layer))
			i, err := r.Installer(t.Context(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
			require.NoError(t, err)
			defer i.Close()
			_, err = i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
			var failure *release.GenerateError
			require.ErrorAs(t, err, &failure)
			require.ErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), c.wantNot)
			require.False(t, failure.Retryable())
		})
	}
}
