package cri

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"slipway/test/bench/kube/container"
)

// Exit codes of containers whose own is not known, as other runtimes give them.
const (
	killed = 137
	lost   = 255
)

// StartContainer runs a container. One whose program cannot be begun has ended at once.
func (s *Server) StartContainer(_ context.Context, r *runtime.StartContainerRequest) (*runtime.StartContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.containers[r.GetContainerId()]
	if one == nil {
		return nil, status.Errorf(codes.NotFound, "require a known container, found %q", r.GetContainerId())
	}
	if one.Started != 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "require a container that was not started, found %q", one.ID)
	}
	one.Started, one.Boot = s.o.Now().UnixNano(), s.o.Boot
	begin := s.begin
	if s.program(one.Config.GetImage()) == "" {
		begin = func(*instance) (int, error) { return 0, s.emptyLog(one) }
	}
	pid, err := begin(one)
	if err != nil {
		one.Started = 0
		return nil, fmt.Errorf("start container %s: %w", one.ID, err)
	}
	one.PID = pid
	s.o.Log.Info(
		"container started",
		"name",
		one.Config.GetMetadata().GetName(),
		"image",
		one.Config.GetImage().GetUserSpecifiedImage(),
		"pid",
		one.PID,
	)
	return &runtime.StartContainerResponse{}, s.saveContainer(one)
}

// begin starts the process that a container lives in. It has the lock for as long as it is
// there, so that a server that is started later sees it too.
func (s *Server) begin(one *instance) (pid int, err error) {
	folder := s.folder("containers", one.ID)
	lock, err := os.OpenFile(filepath.Join(folder, container.LockFile), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // our folder
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a small number
		return 0, err
	}
	said, err := os.Create(filepath.Join(folder, "stderr")) //nolint:gosec // our folder
	if err != nil {
		return 0, err
	}
	defer said.Close()
	// It outlives the request, and this server.
	process := exec.Command(
		s.o.Container[0],
		append(s.o.Container[1:len(s.o.Container):len(s.o.Container)], folder)...) //nolint:gosec // the bench's own program
	process.Dir = "/"
	process.Stderr = said
	process.ExtraFiles = []*os.File{lock}
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	if err := process.Start(); err != nil {
		return 0, err
	}
	go process.Wait() //nolint:errcheck // how the container ended is in its folder
	return process.Process.Pid, nil
}

// running reports whether a container runs, and how it ended where it does not.
func (s *Server) running(one *instance) (bool, container.Exit, error) {
	if one.Started == 0 {
		return false, container.Exit{}, nil
	}
	folder := s.folder("containers", one.ID)
	if one.PID != 0 && one.Boot == s.o.Boot {
		held, err := locked(folder)
		if err != nil || held {
			return held, container.Exit{}, err
		}
	}
	exit, err := container.ReadExit(folder)
	if !errors.Is(err, os.ErrNotExist) {
		return false, exit, err
	}
	if one.PID == 0 && one.Boot == s.o.Boot {
		return true, exit, nil
	}
	exit = container.Exit{Code: lost, Finished: s.o.Now(), Reason: "Error", Message: "its end was not seen"}
	return false, exit, container.WriteExit(folder, exit)
}

// locked reports whether the process of a container is there.
func locked(folder string) (bool, error) {
	lock, err := os.Open(filepath.Join(folder, container.LockFile)) //nolint:gosec // our folder
	if err != nil {
		return false, err
	}
	defer lock.Close()
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) //nolint:gosec // a small number
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// StopContainer asks a container to end, and ends it when it has not done so in time.
func (s *Server) StopContainer(ctx context.Context, r *runtime.StopContainerRequest) (*runtime.StopContainerResponse, error) {
	s.mu.Lock()
	one := s.containers[r.GetContainerId()]
	s.mu.Unlock()
	if one == nil {
		return &runtime.StopContainerResponse{}, nil
	}
	return &runtime.StopContainerResponse{}, s.stop(ctx, one, time.Duration(r.GetTimeout())*time.Second)
}

func (s *Server) stop(ctx context.Context, one *instance, patience time.Duration) error {
	s.mu.Lock()
	runs, _, err := s.running(one)
	pid := one.PID
	s.mu.Unlock()
	if err != nil || !runs {
		return err
	}
	folder := s.folder("containers", one.ID)
	if pid == 0 {
		return container.WriteExit(folder, container.Exited(0, s.o.Now()))
	}
	ended := make(chan error, 1)
	go func() { ended <- awaitEnd(folder) }()
	if patience > 0 {
		if err := signal(pid, syscall.SIGTERM); err != nil {
			return err
		}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	return s.kill(folder, pid, ended)
}

// kill ends a container with all that its program began: they share its namespace.
func (s *Server) kill(folder string, pid int, ended <-chan error) error {
	if err := signal(pid, syscall.SIGKILL); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	if _, err := container.ReadExit(folder); !errors.Is(err, os.ErrNotExist) {
		return err // it ended by itself meanwhile
	}
	return container.WriteExit(folder, container.Exited(killed, s.o.Now()))
}

func signal(pid int, number syscall.Signal) error {
	if err := syscall.Kill(pid, number); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// awaitEnd returns when the process of a container is gone.
func awaitEnd(folder string) error {
	lock, err := os.Open(filepath.Join(folder, container.LockFile)) //nolint:gosec // our folder
	if err != nil {
		return err
	}
	defer lock.Close()
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH) //nolint:gosec // a small number
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
