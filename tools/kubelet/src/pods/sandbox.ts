import { NotYet } from '../errors.ts';
import type { Image } from './images.ts';
import type { Programs } from '../packages.ts';
import type { PodSecurityContext, SecurityContext } from '../types.ts';

/** A folder or file of the kubelet's at a path in the container. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly readOnly: boolean;
}

/** Whom a container runs as. */
export interface Identity {
  readonly user: number;
  readonly group: number;
  readonly groups: readonly number[];
}

export interface SandboxOptions {
  readonly programs: Programs;
  /** Path of the pod's network namespace. */
  readonly network: string;
  readonly hostname: string;
  readonly image: Image;
  readonly mounts: readonly Mount[];
  readonly identity: Identity;
  readonly security: SecurityContext;
  readonly workingDir: string;
  readonly command: readonly string[];
}

/** Where setpriv is in the container: it changes the user, which bwrap can do only for a user namespace. */
const SETPRIV = '/.kubelet/setpriv';

/** What container runtimes grant when nothing is asked. */
const DEFAULT_CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'net_bind_service',
  'sys_chroot',
  'mknod',
  'audit_write',
  'setfcap',
];

/**
 * The arguments of nsenter that make a container: a root of its own with the image's files (read-only, so that the
 * machine's own are safe), `/proc` and `/dev`, then the pod's volumes; its process is number 1 in it.
 */
export function sandbox(options: SandboxOptions): string[] {
  const { programs, image, mounts, security } = options;
  const binds = [...image.layers, { from: programs.setpriv, to: SETPRIV }];
  const paths = [...folders([...binds, ...mounts].map(({ to }) => to)), image.workingDir];
  return [
    `--net=${options.network}`,
    programs.bwrap,
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--as-pid-1',
    ['--hostname', options.hostname],
    ['--info-fd', '3'],
    ['--cap-add', 'ALL'],
    ['--chmod', '0755', '/'],
    ['--perms', '1777', '--dir', '/tmp'],
    ...paths.flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...binds.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ['--proc', '/proc', '--dev', '/dev'],
    ...byPath(mounts).flatMap(({ from, to, readOnly }) => [readOnly ? '--ro-bind' : '--bind', from, to]),
    security.readOnlyRootFilesystem === true ? ['--remount-ro', '/'] : [],
    ['--chdir', options.workingDir, '--'],
    SETPRIV,
    ...privileges(options),
    ...options.command,
  ].flat();
}

/** Every folder above one of these paths: bwrap would make them for root alone. */
function folders(paths: readonly string[]): string[] {
  const above = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1);
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
  });
  return [...new Set(above)].sort((one, other) => one.length - other.length);
}

function privileges({ identity, security }: SandboxOptions): string[] {
  const { user, group, groups } = identity;
  const kept = capabilities(security).map((name) => `,+${name}`);
  return [
    `--reuid=${user}`,
    `--regid=${group}`,
    groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
    '--inh-caps=-all',
    `--bounding-set=-all${kept.join('')}`,
    ...(security.allowPrivilegeEscalation === false ? ['--no-new-privs'] : []),
    '--',
  ];
}

/** The most that a process of the container can ever have. */
function capabilities({ capabilities: asked = {} }: SecurityContext): string[] {
  const drop = (asked.drop ?? []).map(capability);
  const kept = drop.includes('all') ? [] : DEFAULT_CAPABILITIES.filter((name) => !drop.includes(name));
  return [...new Set([...kept, ...(asked.add ?? []).map(capability)])];
}

function capability(name: string): string {
  return name.toLowerCase().replace(/^cap_/, '');
}

/** A mount within another comes after it. */
function byPath(mounts: readonly Mount[]): Mount[] {
  return [...mounts].sort((one, other) => one.to.length - other.to.length);
}

/**
 * The user that the pod and the container ask for, else the image's.
 * @throws NotYet (CreateContainerConfigError) when that is root and must not be.
 */
export function identityOf(image: Image, security: SecurityContext, pod: PodSecurityContext = {}): Identity {
  const asked = { ...pod, ...security };
  const user = asked.runAsUser ?? image.user;
  const group = asked.runAsGroup ?? (asked.runAsUser === undefined ? image.group : 0);
  if (asked.runAsNonRoot === true && user === 0) {
    throw new NotYet('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root');
  }
  const groups = [...(pod.supplementalGroups ?? []), ...(pod.fsGroup === undefined ? [] : [pod.fsGroup])];
  return { user, group, groups };
}
