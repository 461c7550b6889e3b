import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MountedImage } from './image.ts';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const SERVICE_ACCOUNT = 'var/run/secrets/kubernetes.io/serviceaccount';

/**
 * $1 is the root, $2 the folder with the token, $3 the folder that may be written to, if any. Mounts end with the process, for
 * the namespace is its own.
 */
const MOUNT = `set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1/${SERVICE_ACCOUNT}"
mount -o remount,ro,bind "$1/${SERVICE_ACCOUNT}"
mount -o remount,ro,bind "$1"
[ -z "$3" ] || mount -t tmpfs -o mode=1777 tmpfs "$1$3"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
root=$1
shift 3
exec unshare --root="$root" "$@"`;

/**
 * How to run an image's program as a container runtime does, but on the network of this machine: its own root file
 * system, read-only, its user, working directory and environment, and the token of a service account where pods
 * have it. The process that is started becomes the program, so signals reach it.
 * @param pod its args, and the path of a volume in memory, if it has one.
 */
export function inContainer(
  { root, config }: MountedImage,
  pod: {
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    serviceAccount: string;
    writable?: string;
  },
): Launch {
  mkdirSync(join(root, SERVICE_ACCOUNT), { recursive: true });
  const [user, group] = config.User.split(':');
  const as = [`--setgid=${group}`, `--setuid=${user}`, `--wd=${config.WorkingDir}`];
  const shell = ['/bin/sh', '-c', MOUNT, 'sh', root, pod.serviceAccount, pod.writable ?? ''];
  return {
    command: 'unshare',
    args: ['--mount', ...shell, ...as, ...config.Entrypoint, ...pod.args],
    env: { HOME: '/home/nonroot', ...environment(config.Env), ...pod.env },
  };
}

function environment(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
