// Package healthy answers steps of discovery as the agent of a healthy host does, for machines of tests.
package healthy

import (
	"encoding/json"

	"slipway/internal/wire"
)

// Output returns what a step puts out where every other host, source and name is reached; nil for steps whose answer depends on the
// machine, and for those without an output.
func Output(step wire.Step) any {
	switch step.StepType {
	case wire.StepTypeConnectivityCheck:
		return Reached(Arg[wire.ConnectivityCheckParams](step))
	case wire.StepTypeNtpSynchronizer:
		return wire.NtpSynchronizationResponse{NtpSources: []wire.NtpSource{{SourceName: "ntp.example.com", SourceState: wire.SourceStateSynced}}}
	case wire.StepTypeDomainResolution:
		return resolved(Arg[wire.DomainResolutionRequest](step))
	case wire.StepTypeVerifyVips:
		var out wire.VerifyVipsResponse
		for _, v := range Arg[wire.VerifyVipsRequest](step) {
			out = append(out, wire.VerifiedVip{Vip: v.Vip, VipType: v.VipType, Verification: wire.VipVerificationSucceeded})
		}
		return out
	case wire.StepTypeInstallationDiskSpeedCheck:
		return wire.DiskSpeedCheckResponse{IoSyncDuration: 2, Path: Arg[wire.DiskSpeedCheckRequest](step).Path}
	case wire.StepTypeContainerImageAvailability:
		return pulled(Arg[wire.ContainerImageAvailabilityRequest](step))
	}
	return nil
}

// Reply makes the answer to a step with an output, which may be nil.
func Reply(step wire.Step, output any) wire.StepReply {
	reply := wire.StepReply{StepType: step.StepType, StepID: step.StepID}
	if output != nil {
		text, err := json.Marshal(output)
		if err != nil {
			panic(err) // wire types can be encoded
		}
		reply.Output = string(text)
	}
	return reply
}

// Arg reads the first argument of a step.
func Arg[T any](step wire.Step) (out T) {
	if err := json.Unmarshal([]byte(step.Args[0]), &out); err != nil {
		panic(err)
	}
	return out
}

// Reached reports every address of some hosts as reached, on both layers.
func Reached(others wire.ConnectivityCheckParams) wire.ConnectivityReport {
	report := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	for _, other := range others {
		remote := wire.ConnectivityRemoteHost{HostID: other.HostID}
		for _, nic := range other.Nics {
			for _, ip := range nic.IPAddresses {
				remote.L2Connectivity = append(remote.L2Connectivity, wire.L2Connectivity{
					OutgoingNic: "eth0", RemoteIPAddress: ip, RemoteMac: nic.Mac, Successful: true,
				})
				remote.L3Connectivity = append(remote.L3Connectivity, wire.L3Connectivity{
					RemoteIPAddress: ip, AverageRttMs: 0.4, Successful: true,
				})
			}
		}
		report.RemoteHosts = append(report.RemoteHosts, remote)
	}
	return report
}

// resolved reports names without an address, as a healthy site has them before its cluster.
func resolved(request wire.DomainResolutionRequest) any {
	type resolution struct {
		DomainName    string   `json:"domain_name"`
		IPv4Addresses []string `json:"ipv4_addresses"`
	}
	var out struct {
		Resolutions []resolution `json:"resolutions"`
	}
	for _, d := range request.Domains {
		name, _ := d["domain_name"].(string)
		out.Resolutions = append(out.Resolutions, resolution{DomainName: name})
	}
	return out
}

func pulled(request wire.ContainerImageAvailabilityRequest) wire.ContainerImageAvailabilityResponse {
	out := wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{}}
	for _, image := range request.Images {
		out.Images = append(out.Images, wire.ContainerImageAvailability{
			Name: image, Result: wire.ContainerImageAvailabilityResultSuccess, SizeBytes: 433_815_552, Time: 4, DownloadRate: 108_453_888,
		})
	}
	return out
}
