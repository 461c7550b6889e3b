package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Where every process of the node reaches the API server, at the node's address.
const apiPort = "6443"

// Node is what FILE holds.
type Node struct {
	// Of the network interface on this side.
	Link string
	// Addresses of the two ends of that link: this machine's and the node's.
	HostIP, NodeIP string
	// Host and port, on this machine.
	APIServer string
	// Of the node's pods, below each controller.
	Cgroup string
	// A file a server.
	LogDir string
	// Appended to PATH.
	Path string
	// Started one after the other.
	Servers []Server
}

// Server is a process of the node.
type Server struct {
	Name    string
	Command []string
	// The next server is started when this file is there. Optional.
	Until string
}

func read(file string) (node Node, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return node, err
	}
	return node, json.Unmarshal(text, &node)
}

// runNode starts the node in namespaces of its own, joined to this machine by one link, and ends when it ends. The
// kernel ends all of it, and removes its mounts and network, when this process ends, however that comes about.
func runNode(file string) error {
	node, err := read(file)
	if err != nil {
		return err
	}
	// Pdeathsig is sent when the thread that started the child ends.
	runtime.LockOSThread()
	child := exec.Command("/proc/self/exe", "init", file)
	child.Args[0] = "kube-node"
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	linked, err := child.StdinPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	defer child.Process.Kill()
	peer := fmt.Sprint(child.Process.Pid)
	// Of a node that was killed a moment ago.
	_ = ip("link delete " + node.Link)
	if err := ip(
		"link add "+node.Link+" type veth peer name eth0 netns "+peer,
		"address add "+node.HostIP+" peer "+node.NodeIP+" dev "+node.Link,
		"link set "+node.Link+" up",
	); err != nil {
		return err
	}
	if err := relay(net.JoinHostPort(node.HostIP, apiPort), node.APIServer); err != nil {
		return err
	}
	linked.Close()
	return child.Wait()
}

// runInit is process 1 of the node: it ends when one of the servers ends.
func runInit(file string) error {
	node, err := read(file)
	if err != nil {
		return err
	}
	// Until there is a link.
	io.Copy(io.Discard, os.Stdin)
	if err := prepare(node); err != nil {
		return err
	}
	running := map[int]string{}
	for _, server := range node.Servers {
		pid, err := start(server, node)
		if err != nil {
			return fmt.Errorf("%s: %w", server.Name, err)
		}
		running[pid] = server.Name
	}
	// Orphans of containers end here too.
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if name, ok := running[pid]; ok {
			return fmt.Errorf("%s ended: status %d", name, status)
		}
	}
}

func prepare(node Node) error {
	// Nothing that is mounted here reaches this machine; what a container mounts may reach other containers.
	for _, flag := range []uintptr{syscall.MS_SLAVE, syscall.MS_SHARED} {
		if err := syscall.Mount("", "/", "", flag|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("mounts: %w", err)
		}
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	// What has no setting for its folder writes here.
	for _, folder := range []string{"/run", "/var/log", "/var/lib/cni"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	if err := makeCgroups(node.Cgroup); err != nil {
		return err
	}
	if err := ip(
		"link set lo up",
		"address add "+node.NodeIP+" peer "+node.HostIP+" dev eth0",
		"link set eth0 up",
	); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return err
	}
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin:"+node.Path)
	return relay(net.JoinHostPort(node.NodeIP, apiPort), net.JoinHostPort(node.HostIP, apiPort))
}

func start(server Server, node Node) (int, error) {
	log, err := os.Create(filepath.Join(node.LogDir, server.Name+".log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	command := exec.Command(server.Command[0], server.Command[1:]...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return 0, err
	}
	return command.Process.Pid, await(server.Until)
}

func await(file string) error {
	if file == "" {
		return nil
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
	}
	return fmt.Errorf("no %s after a minute", file)
}

// makeCgroups makes a cgroup in each hierarchy, or in the one of version 2.
func makeCgroups(name string) error {
	const root = "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/cgroup.controllers"); err == nil {
		return os.MkdirAll(filepath.Join(root, name), 0o755)
	}
	parents, err := filepath.Glob(root + "/*")
	if err != nil {
		return err
	}
	for _, parent := range parents {
		folder := filepath.Join(parent, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if text, err := os.ReadFile(filepath.Join(parent, file)); err == nil {
				os.WriteFile(filepath.Join(folder, file), text, 0o644)
			}
		}
	}
	return nil
}

func ip(commands ...string) error {
	for _, command := range commands {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, out)
		}
	}
	return nil
}

// relay passes connections on, in the background.
func relay(from, to string) error {
	listener, err := net.Listen("tcp", from)
	if err != nil {
		return err
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(connection, to)
		}
	}()
	return nil
}

func pass(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(to, from)
		to.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(from, to)
}
