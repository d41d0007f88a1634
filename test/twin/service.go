package twin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const (
	base       = "/api/assisted-install"
	agentImage = "quay.io/twin/agent:1"
	pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNz","email":"user@example.com"}}}`
)

// service is a service under test.
type service struct{ url string }

// call sends a request and returns the code and the body, nil when it is not JSON.
func (s service) call(method, path string, body any) (int, any, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, s.url+base+path, reader)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Discovery_agent_version", agentImage)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	var out any
	_ = json.Unmarshal(text, &out)
	return response.StatusCode, out, nil
}

func taken(code int) bool { return code/100 == 2 }
