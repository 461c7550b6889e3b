// Command oldest-kube-apiserver is the API server of the oldest Kubernetes that the chart supports. Its first argument is
// `kube-apiserver`, as that of controlplane is.
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "kube-apiserver" {
		fmt.Fprintln(os.Stderr, "usage: oldest-kube-apiserver kube-apiserver [flags]")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
