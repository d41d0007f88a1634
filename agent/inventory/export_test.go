package inventory

// MACs is macs, and SharedAddresses is sharedAddresses: the kernel of a test has no device with a permanent address.
var (
	MACs            = macs
	SharedAddresses = sharedAddresses
)
