package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// bareEnv makes the program of these benchmarks a server of the file it names, and of
// nothing else: the least a machine can do to send it.
const bareEnv = "SLIPWAY_BENCH_BARE"

func TestMain(m *testing.M) {
	if path := os.Getenv(bareEnv); path != "" {
		fmt.Fprintln(os.Stderr, serveBare(path))
		os.Exit(1)
	}
	if os.Getenv(crowdEnv) != "" {
		actAsCrowd()
		return
	}
	os.Exit(m.Run())
}

// serveBare answers every connection with the file by blocking sendfile(2) calls, without
// net, net/http or a runtime poller. It prints its port.
func serveBare(path string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(socket, 128); err != nil {
		return err
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return err
	}
	fmt.Println(name.(*unix.SockaddrInet4).Port)
	for {
		conn, _, err := unix.Accept(socket)
		if err != nil {
			return err
		}
		go sendBare(conn, path)
	}
}

func sendBare(conn int, path string) {
	defer unix.Close(conn)
	request := make([]byte, 4<<10)
	if _, err := unix.Read(conn, request); err != nil {
		return
	}
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(file)
	var stat unix.Stat_t
	if err := unix.Fstat(file, &stat); err != nil {
		return
	}
	if _, err := unix.Write(conn, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", stat.Size)); err != nil {
		return
	}
	for offset := int64(0); offset < stat.Size; {
		if n, err := unix.Sendfile(conn, file, &offset, int(stat.Size-offset)); n == 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

// startBare runs the bare server of a file until the benchmark ends.
func startBare(tb testing.TB, path string) (address string, pid int) {
	tb.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), bareEnv+"="+path)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, command.Start())
	tb.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(tb, err)
	return "127.0.0.1:" + strings.TrimSpace(port), command.Process.Pid
}

// drain asks for a path and throws the answer away in the kernel: a reader that copied
// would take the processors from what is measured. It returns the length of the body.
func drain(address, path string) (int64, error) {
	conn, head, err := ask(address, path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("ask for %s: found %.200q (%w)", path, head, err)
	}
	rest, err := discard(conn)
	read := rest + int64(len(head)-bytes.Index(head, endOfHeader)-len(endOfHeader))
	if err == nil && read != response.ContentLength {
		err = fmt.Errorf("read %s: require %d bytes, found %d: %w", path, response.ContentLength, read, io.ErrUnexpectedEOF)
	}
	return read, err
}

var endOfHeader = []byte("\r\n\r\n")

// ask sends a request and reads the header of the answer, with what came behind it.
func ask(address, path string) (*net.TCPConn, []byte, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address); err != nil {
		return nil, nil, err
	}
	head := make([]byte, 0, 4<<10)
	for !bytes.Contains(head, endOfHeader) {
		n, err := conn.Read(head[len(head):cap(head)])
		if head = head[:len(head)+n]; err != nil {
			return nil, nil, fmt.Errorf("read header: %w", err)
		}
	}
	return conn.(*net.TCPConn), head, nil
}

// discard reads to the end with MSG_TRUNC, see tcp(7): bytes are not copied anywhere.
func discard(conn *net.TCPConn) (read int64, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, fd, 0, 8<<20, unix.MSG_TRUNC, 0, 0)
			switch {
			case errno == unix.EAGAIN:
				return false
			case errno == unix.EINTR:
				continue
			case errno != 0:
				failed = errno
			}
			if errno != 0 || n == 0 {
				return true
			}
			read += int64(n)
		}
	})
	if failed != nil {
		err = failed
	}
	return read, err
}

// descriptors returns how many a process has open.
func descriptors(tb testing.TB, pid int) int {
	tb.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	require.NoError(tb, err)
	return len(entries)
}
