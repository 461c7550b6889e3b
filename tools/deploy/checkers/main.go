// Loads a Compose file as `docker compose` does, checks it, and prints what it comes to as JSON.
//
// Usage: compose <file>
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if len(os.Args) != 2 {
		fail(2, "expected one Compose file, given %d", len(os.Args)-1)
	}
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithResolvedPaths(true))
	if err != nil {
		fail(1, "%v", err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fail(1, "%v", err)
	}
	text, err := project.MarshalJSON()
	if err != nil {
		fail(1, "%v", err)
	}
	fmt.Println(string(text))
}

func fail(code int, format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(code)
}
