package bench_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// line is one connection to the service that asks and reads with as little work as
// possible: it shares the processors with what it measures.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
	// token is sent with every request; empty: none. renewed replaces it: the service answered to use it from then on.
	token, renewed string
	// arrived is called for every step that is handed out; nil: no call.
	arrived func(stepID string)
}

func (s *service) connect() (*line, error) {
	_, address, _ := strings.Cut(s.api, "://")
	var conn net.Conn
	var err error
	if s.authority != nil {
		conn, err = tls.Dial("tcp", address, s.authority)
	} else {
		conn, err = net.Dial("tcp", address)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the service: %w", err)
	}
	return &line{conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// call sends a whole request and reads the answer; the body holds until the next call.
func (l *line) call(request []byte, limit time.Duration) (status int, body []byte, err error) {
	if err := l.conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return 0, nil, err
	}
	if l.token != "" {
		line, rest, _ := bytes.Cut(request, []byte("\r\n"))
		request = fmt.Appendf(nil, "%s\r\nX-Secret-Key: %s\r\n%s", line, l.token, rest)
	}
	if _, err := l.conn.Write(request); err != nil {
		return 0, nil, fmt.Errorf("send request: %w", err)
	}
	first, err := l.in.ReadSlice('\n')
	if err != nil {
		return 0, nil, fmt.Errorf("read answer: %w", err)
	}
	if len(first) < len("HTTP/1.1 200") {
		return 0, nil, fmt.Errorf("read answer: found %q", first)
	}
	if status, err = strconv.Atoi(string(first[9:12])); err != nil {
		return 0, nil, fmt.Errorf("read answer: found %q", first)
	}
	length, err := l.length(status)
	if err != nil {
		return 0, nil, err
	}
	if cap(l.body) < length {
		l.body = make([]byte, length)
	}
	l.body = l.body[:length]
	_, err = io.ReadFull(l.in, l.body)
	return status, l.body, err
}

var (
	contentLength = []byte("Content-Length: ")
	hostToken     = []byte("Slipway-Token: ")
)

// length reads the header. Answers of the service to hosts tell their length.
func (l *line) length(status int) (int, error) {
	length := -1
	for {
		header, err := l.in.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("read header: %w", err)
		}
		if len(header) <= len("\r\n") {
			break
		}
		if value, ok := bytes.CutPrefix(header, hostToken); ok {
			l.renewed = string(bytes.TrimSpace(value))
		}
		if value, ok := bytes.CutPrefix(header, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, fmt.Errorf("read header: %w", err)
			}
		}
	}
	if length < 0 && status == http.StatusNoContent {
		return 0, nil
	}
	if length < 0 {
		return 0, errors.New("read header: require a Content-Length, found none")
	}
	return length, nil
}

func (l *line) close() { _ = l.conn.Close() }
