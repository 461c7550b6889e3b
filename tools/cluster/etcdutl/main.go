// Command etcdutl restores a copy of an etcd's database into a new data folder and raises the revision, as
// `etcdutl snapshot restore --bump-revision N --mark-compacted` does. The arguments: the database, the data folder to
// make, N.
package main

import (
	"fmt"
	"os"
	"strconv"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
)

// Any will do: a member that is alone does not call others.
const peer = "http://127.0.0.1:2380"

func restore(database, folder, bump string) error {
	revisions, err := strconv.ParseUint(bump, 10, 64)
	if err != nil {
		return err
	}
	return snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath:        database,
		OutputDataDir:       folder,
		Name:                "local",
		PeerURLs:            []string{peer},
		InitialCluster:      "local=" + peer,
		InitialClusterToken: "restored",
		// A copy of a file has no hash at its end.
		SkipHashCheck: true,
		RevisionBump:  revisions,
		MarkCompacted: true,
	})
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "expected three arguments: database, folder, bump")
		os.Exit(2)
	}
	if err := restore(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
