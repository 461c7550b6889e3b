// Renders charts as `helm template` does, many in one process: takes a request a line and answers each with a line, both JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"sigs.k8s.io/yaml"
)

type request struct {
	ID        int             `json:"id"`
	Chart     string          `json:"chart"`
	Release   string          `json:"release"`
	Namespace string          `json:"namespace"`
	Values    json.RawMessage `json:"values"`
	APIs      []string        `json:"apis"`
}

// answer has an error, or the rest.
type answer struct {
	ID    int    `json:"id"`
	Text  string `json:"text"`
	Notes string `json:"notes"`
	Error string `json:"error,omitempty"`
}

func install(asked request) (*release.Release, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal(asked.Values, &values); err != nil {
		return nil, err
	}
	chart, err := loader.Load(asked.Chart)
	if err != nil {
		return nil, err
	}
	client := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	client.ClientOnly = true
	client.DryRun = true
	client.Replace = true
	client.ReleaseName = asked.Release
	client.Namespace = asked.Namespace
	client.APIVersions = chartutil.VersionSet(asked.APIs)
	made, err := client.Run(chart, values)
	if err != nil && made != nil {
		err = fmt.Errorf("%w\n\nUse --debug flag to render out invalid YAML", err)
	}
	return made, err
}

func render(asked request) answer {
	made, err := install(asked)
	if err != nil {
		return answer{ID: asked.ID, Error: "Error: " + err.Error()}
	}
	var text strings.Builder
	fmt.Fprintln(&text, strings.TrimSpace(made.Manifest))
	for _, hook := range made.Hooks {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	return answer{ID: asked.ID, Text: text.String(), Notes: made.Info.Notes}
}

func main() {
	var one sync.Mutex
	requests, answers := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var asked request
		if err := requests.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		go func() {
			said := render(asked)
			one.Lock()
			defer one.Unlock()
			if err := answers.Encode(said); err != nil {
				log.Fatal(err)
			}
		}()
	}
}
