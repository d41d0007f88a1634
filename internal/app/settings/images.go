package settings

import (
	"cmp"
	"path/filepath"

	"slipway/internal/model"
)

// ImageFolder says where operating system images are.
type ImageFolder struct {
	ImageDir string `env:"SLIPWAY_IMAGE_DIR" type:"path" help:"Folder of the operating system images that discovery images are made of; by default a folder of the data folder." placeholder:"FOLDER"`
}

// Path returns the folder; by default the one in the data folder.
func (o ImageFolder) Path(dataDir string) string {
	return cmp.Or(o.ImageDir, filepath.Join(dataDir, "images"))
}

// Downloads say how operating system images are downloaded.
type Downloads struct {
	ImageFolder
	ImageCA      string       `name:"image-download-ca" env:"OS_IMAGE_DOWNLOAD_TRUSTED_CA_FILE" type:"path" help:"Certificates, PEM, trusted beside the system's certificates when operating system images are downloaded." placeholder:"FILE"`
	ImageDigests string       `name:"os-image-digests" default:"optional" enum:"optional,required" env:"OS_IMAGE_DIGESTS" help:"Whether every operating system image of the lists has to have its sha256 there: optional or required."`
	ImageHeaders model.Secret `name:"image-download-headers" env:"OS_IMAGES_REQUEST_HEADERS" help:"Headers that downloads of operating system images are asked for with, a JSON object." placeholder:"JSON"`
	ImageQuery   model.Secret `name:"image-download-query" env:"OS_IMAGES_REQUEST_QUERY_PARAMS" help:"Query parameters that downloads of operating system images are asked for with, a JSON object." placeholder:"JSON"`
}

// Images are the flags of every command that sends images.
type Images struct {
	Downloads
	ImageRequests int `name:"image-requests" default:"400" env:"MAX_CONCURRENT_REQUESTS" help:"How many images are sent at once; more are asked to come again."`
}

// ImageService are the flags of slipway images, the image service alone.
type ImageService struct {
	ConfigFile
	Connections
	Images
	DataDir    string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for everything the service keeps."`
	Listen     string `default:"127.0.0.1:8092" env:"SLIPWAY_LISTEN" help:"Address the image service listens on."`
	OSImages   string `name:"os-images" env:"OS_IMAGES" help:"Live images of the operating system, a JSON list; by default the images of slipway versions update, or the shipped ones, downloaded when a host needs one." placeholder:"JSON"`
	BaseURL    string `name:"image-service-url" env:"IMAGE_SERVICE_BASE_URL" help:"Address that machines reach this service at; by default the address of --listen." placeholder:"URL"`
	ServiceURL string `env:"SLIPWAY_URL" help:"Address of the API; by default of ASSISTED_SERVICE_SCHEME and ASSISTED_SERVICE_HOST." placeholder:"URL"`
	ServiceCA  string `name:"service-ca" env:"ASSISTED_SERVICE_API_TRUSTED_CA_FILE,HTTPS_CA_FILE" type:"path" help:"Certificates, PEM, trusted for the API in place of the system's certificates." placeholder:"FILE"`
	Insecure   bool   `env:"INSECURE_SKIP_VERIFY" help:"Take any certificate of the API."`
	TLSCert    string `name:"tls-cert" env:"HTTPS_CERT_FILE" type:"path" help:"Certificate of --listen, PEM; with --tls-key it speaks HTTPS." placeholder:"FILE"`
	TLSKey     string `name:"tls-key" env:"HTTPS_KEY_FILE" type:"path" help:"Key of the certificate, PEM." placeholder:"FILE"`
	PlainPort  int    `name:"http-port" env:"HTTP_LISTEN_PORT" help:"Port for firmware that knows no HTTPS, beside it: initrd and boot artifacts only." placeholder:"PORT"`
}
