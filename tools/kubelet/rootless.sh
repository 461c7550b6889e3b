#!/bin/sh
# rootless.sh COMMAND... — runs a command as root of a user namespace, for whoever is not root: with a network of its own
# (loopback only), mounts, processes, and the ids that /etc/subuid and /etc/subgid give the user for those of containers.
set -e
for program in unshare newuidmap newgidmap ip; do
  command -v "$program" >/dev/null || {
    echo "expected $program on PATH: apt-get install util-linux uidmap iproute2" >&2
    exit 1
  }
done
exec unshare --user --map-root-user --map-auto --net --mount --pid --fork --mount-proc --kill-child -- \
  sh -ec 'mount -t tmpfs tmpfs /run; ip link set lo up; exec "$@"' rootless "$@"
