// Command kube-node is a Kubernetes node in namespaces of its own, or the kubelet or kube-proxy of one, by its first
// argument.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

const usage = "usage: kube-node run FILE | kube-node kubelet|kube-proxy [flags]"

func main() {
	if len(os.Args) < 2 {
		exit(fmt.Errorf("%s", usage))
	}
	// The components read os.Args themselves, so they must find their own name first.
	os.Args = os.Args[1:]
	var command *cobra.Command
	switch os.Args[0] {
	case "run":
		exit(runNode(os.Args[1]))
	case "init":
		exit(runInit(os.Args[1]))
	case "kubelet":
		command = kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		command = kubeproxy.NewProxyCommand()
	default:
		exit(fmt.Errorf("unknown component %q\n%s", os.Args[0], usage))
	}
	os.Exit(cli.Run(command))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
