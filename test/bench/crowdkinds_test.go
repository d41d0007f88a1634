package bench_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

const v2 = "/api/assisted-install/v2"

// crowdKinds have the clients of each crowd by its name in the table.
var crowdKinds = map[string]func(*crowd){
	"wrong tokens":                    wrongTokens,
	"bodies that drip":                drippingBodies,
	"headers of 1 MB":                 largeHeaders,
	"slow readers of images":          imageReaders,
	"slow readers of lists, programs": listReaders,
	"slow readers of small answers":   pipeliners,
	"a flood of one user":             userFlood,
	"a flood of one host":             hostFlood,
	"huge and deep JSON":              hugeJSON,
	"4 heavy lists of a viewer":       heavyLists,
	"400 idle TLS connections":        idleConnections,
	"logs that are not gzip":          wrongLogs,
	"a flood of new hosts":            registrations,
}

// wrongTokens sends tokens that the service has not signed.
func wrongTokens(c *crowd) {
	c.every(16, func() {
		claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"%x","role":"admin"}`, rand.Uint64()))
		signature := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{byte(rand.Uint32())}, 64))
		c.get("wrong", v2+"/clusters", "Authorization", "Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9."+claims+"."+signature)
	})
}

// drippingBodies sends large bodies of hosts at 4.5 KB/s, and small ones of a user at a byte a second.
func drippingBodies(c *crowd) {
	for _, env := range c.Envs {
		path := fmt.Sprintf("%s/infra-envs/%s/hosts/%s/instructions", v2, env.ID, env.Host)
		c.every(40, func() { c.drip("large", path, "X-Secret-Key: "+env.Token, 1<<20+1<<16, 4500) })
	}
	c.every(60, func() { c.drip("small", v2+"/clusters", "Authorization: Bearer "+c.User, 100_000, 1) })
}

func (c *crowd) drip(what, path, credential string, length, perSecond int) {
	conn := c.connect(what)
	if conn == nil {
		return
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, c.Address, credential, length)
	ended := make(chan string, 1)
	go func() { ended <- statusOf(conn) }()
	for {
		select {
		case how := <-ended:
			c.count(what + " " + how)
			return
		case <-c.ctx.Done():
			c.count(what + " open")
			return
		case <-time.After(time.Second):
			_, _ = conn.Write(bytes.Repeat([]byte(" "), perSecond))
		}
	}
}

// statusOf reads the first line of an answer and no more.
func statusOf(conn net.Conn) string {
	line, err := bufio.NewReaderSize(conn, 64).ReadString('\n')
	if err != nil || len(line) < 12 {
		return "closed"
	}
	return line[9:12]
}

// largeHeaders sends headers without a credential.
func largeHeaders(c *crowd) {
	header := []byte("X-Large: " + strings.Repeat("x", 1<<20) + "\r\n\r\n")
	c.every(400, func() {
		conn := c.connect("header")
		if conn == nil {
			return
		}
		defer conn.Close()
		go func() {
			_, _ = fmt.Fprintf(conn, "GET /health HTTP/1.1\r\nHost: %s\r\n", c.Address)
			_, _ = conn.Write(header)
		}()
		c.count("header " + statusOf(conn))
		sleep(c.ctx, time.Second) // others of the crowd are to have their turn
	})
}

// unread asks for something, reads how the answer begins, and then nothing until the service closes the connection.
func (c *crowd) unread(what, path, credential string) {
	conn := c.connect(what)
	if conn == nil {
		return
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, c.Address, credential)
	how := statusOf(conn)
	c.count(what + " " + how)
	if how == "200" {
		<-c.ctx.Done()
		return
	}
	sleep(c.ctx, time.Second)
}

// imageReaders takes all places of the image of one InfraEnv, while others ask for the image of another one.
func imageReaders(c *crowd) {
	c.every(450, func() { c.unread("image", c.Envs[0].ImageURL, "Accept: */*") })
	c.group.Go(func() {
		sleep(c.ctx, c.For/4)
		for c.ctx.Err() == nil {
			c.rangeOf("other image", c.Envs[1].ImageURL)
			sleep(c.ctx, 200*time.Millisecond)
		}
	})
}

// rangeOf reads the first bytes of an image as firmware does.
func (c *crowd) rangeOf(what, path string) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "https://"+c.Address+path, nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Range", "bytes=0-65535")
	answer, err := c.client.Do(request)
	if err != nil {
		c.count(what + " closed")
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	c.count(fmt.Sprintf("%s %d", what, answer.StatusCode))
}

func listReaders(c *crowd) {
	for _, path := range []string{"/infra-envs/" + c.Wide + "/hosts", "/clusters?with_hosts=true"} {
		c.every(40, func() { c.unread("list", v2+path, "Authorization: Bearer "+c.Viewer) })
	}
	c.every(60, func() { c.unread("program", "/agent/slipway-agent-amd64", "Accept: */*") })
}

// pipeliners sends one request after the other and reads no answer.
func pipeliners(c *crowd) {
	const format = "GET %s/infra-envs/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n"
	request := fmt.Appendf(nil, format, v2, c.Wide, c.Address, c.Viewer)
	health := fmt.Appendf(nil, "GET /health HTTP/1.1\r\nHost: %s\r\n\r\n", c.Address)
	c.every(300, func() {
		conn := c.connect("pipeline")
		if conn == nil {
			return
		}
		defer conn.Close()
		for c.ctx.Err() == nil && c.sent.Add(20) <= c.Most {
			if _, err := conn.Write(append(bytes.Repeat(request, 5), bytes.Repeat(health, 15)...)); err != nil {
				c.count("pipeline closed")
				return
			}
			sleep(c.ctx, 200*time.Millisecond)
		}
		<-c.ctx.Done()
		c.count("pipeline open")
	})
}

func userFlood(c *crowd) {
	paths := []string{"/component-versions", "/infra-envs/" + c.Envs[0].ID, "/clusters/" + c.Envs[0].Cluster}
	c.every(16, func() { c.get("user", v2+paths[rand.IntN(len(paths))], "Authorization", "Bearer "+c.User) })
}

func hostFlood(c *crowd) {
	path := fmt.Sprintf("%s/infra-envs/%s/hosts/%s/instructions", v2, c.Envs[0].ID, c.Envs[0].Host)
	c.every(16, func() { c.get("host", path, "X-Secret-Key", c.Envs[0].Token) })
}

// hugeJSON sends 32 MB of levels in levels, of numbers and of one text.
func hugeJSON(c *crowd) {
	for _, part := range []string{`[{"a":"` + strings.Repeat("x", 900) + `","b":`, "[1,2,3,4,5,6,7,8,9,0],", strings.Repeat("x", 1000)} {
		first := "["
		if part[0] == 'x' {
			first = `{"name":"`
		}
		c.every(2, func() {
			body := io.MultiReader(strings.NewReader(first), io.LimitReader(&repeated{part: part}, 32<<20))
			c.ask("JSON", http.MethodPost, v2+"/clusters", "Authorization", "Bearer "+c.User, body, "application/json")
		})
		env := c.Envs[2]
		path := fmt.Sprintf("%s/infra-envs/%s/hosts/%s/instructions", v2, env.ID, env.Host)
		c.every(2, func() {
			body := io.MultiReader(strings.NewReader(first), io.LimitReader(&repeated{part: part}, 31<<20))
			c.ask("JSON", http.MethodPost, path, "X-Secret-Key", env.Token, body, "application/json")
		})
	}
}

// repeated is a text without an end.
type repeated struct {
	part string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], r.part[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.part)
	}
	return n, nil
}

func heavyLists(c *crowd) {
	c.every(4, func() { c.get("list", v2+"/clusters?with_hosts=true", "Authorization", "Bearer "+c.Viewer) })
}

// idleConnections says nothing after the handshake, or does not even begin it.
func idleConnections(c *crowd) {
	c.every(400, func() {
		conn := c.connect("idle")
		if conn == nil {
			return
		}
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(2 * c.For))
		how := statusOf(conn)
		if c.ctx.Err() != nil {
			how = "open"
		}
		c.count("idle " + how)
	})
	c.every(100, func() {
		conn := c.dial("no handshake")
		if conn == nil {
			return
		}
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(c.For))
		how := statusOf(conn)
		c.count("no handshake " + how)
	})
}

func wrongLogs(c *crowd) {
	env := c.Envs[1]
	path := fmt.Sprintf("%s/clusters/%s/logs?logs_type=host&infra_env_id=%s&host_id=%s", v2, env.Cluster, env.ID, env.Host)
	head := "--x\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"logs.tar.gz\"\r\n\r\n"
	text := head + strings.Repeat("not gzip\n", 1<<17) + "\r\n--x--\r\n"
	c.every(8, func() {
		c.ask("logs", http.MethodPost, path, "X-Secret-Key", env.Token, strings.NewReader(text), "multipart/form-data; boundary=x")
	})
}

// registrations registers new hosts with the token of one image.
func registrations(c *crowd) {
	env := c.Envs[2]
	c.every(8, func() {
		c.ask("register", http.MethodPost, v2+"/infra-envs/"+env.ID+"/hosts", "X-Secret-Key", env.Image,
			strings.NewReader(fmt.Sprintf(`{"host_id":%q}`, uuid.NewString())), "application/json")
	})
}
