// Command argo-cd-diff says whether Argo CD would show an object as OutOfSync, by Argo CD's own code. It reads one
// JSON object from standard input, {"live": …, "target": …, "ignoreDifferences": […]}, the last as in an Application's
// spec, and writes true or false.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Live              map[string]any                       `json:"live"`
	Target            map[string]any                       `json:"target"`
	IgnoreDifferences []v1alpha1.ResourceIgnoreDifferences `json:"ignoreDifferences"`
}

func main() {
	outOfSync, err := answer()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(outOfSync)
}

func answer() (bool, error) {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return false, err
	}
	config, err := diff.NewDiffConfigBuilder().
		WithDiffSettings(asked.IgnoreDifferences, nil, false, normalizers.IgnoreNormalizerOpts{}).
		WithTracking("app.kubernetes.io/instance", "annotation").
		WithNoCache().
		Build()
	if err != nil {
		return false, err
	}
	live := &unstructured.Unstructured{Object: asked.Live}
	target := &unstructured.Unstructured{Object: asked.Target}
	result, err := diff.StateDiff(live, target, config)
	return result.Modified, err
}
