import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClusterError } from '../../cluster/src/errors.ts';
import { run, which } from '../../cluster/src/run.ts';
import { containerName, withFolder, type Buildah } from './buildah.ts';
import { imageArgument, ROOT } from './dockerfile.ts';

/**
 * The images that the Dockerfile builds on come from registries. Where none can be reached, these stand in for
 * them under the same names, made of the same parts: Debian's packages, Node.js and npm. The Dockerfile is built
 * as it is. What they do not show is what only the true images have: other packages, and their configuration.
 */
const SUITE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const LABEL = 'dev.reroll.stand-in';
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const NONROOT = 65532;

interface StandIn {
  readonly name: string;
  readonly packages: readonly string[];
  /** Packages that these depend on come too. */
  readonly withDependencies: boolean;
  readonly env: readonly string[];
  /** Further settings of the image. */
  readonly config?: readonly string[];
  /** What else changes the image. */
  readonly version: string;
  /** Adds what no package has. */
  readonly finish: (root: string) => void;
}

/** Makes those stand-ins that are not there yet, under the names that the Dockerfile asks for. */
export async function ensureStandIns(buildah: Buildah): Promise<void> {
  for (const standIn of [nodeImage(), baseImage()]) await ensureStandIn(buildah, standIn);
}

async function ensureStandIn(buildah: Buildah, standIn: StandIn): Promise<void> {
  const key = keyOf(standIn);
  const format = `{{index .OCIv1.Config.Labels "${LABEL}"}}`;
  const present = await buildah.try('inspect', '--type=image', `--format=${format}`, standIn.name);
  if (present.code !== 0 || present.stdout.trim() !== key) await make(buildah, standIn, key);
}

/** `redis` and `valkey`, as a chart uses them: of Debian's packages, with the entry point of the official images. */
export async function ensureServerStandIns(buildah: Buildah): Promise<Readonly<Record<Server, string>>> {
  const images = { redis: serverImage('redis'), valkey: serverImage('valkey') };
  for (const image of Object.values(images)) await ensureStandIn(buildah, image);
  return { redis: images.redis.name, valkey: images.valkey.name };
}

type Server = 'redis' | 'valkey';

/** Without protected mode unless an argument asks for it; a flag or a file as the first argument is the server's. */
const ENTRYPOINT = `#!/bin/sh
case "$1" in
'' | -* | *.conf) set -- redis-server "$@" ;;
esac
exec "$@"
`;
const SERVER = `#!/bin/sh
case "$1" in
'' | -*) exec /usr/bin/SERVER-server --protected-mode no "$@" ;;
*) conf=$1 && shift && exec /usr/bin/SERVER-server "$conf" --protected-mode no "$@" ;;
esac
`;

function serverImage(server: Server): StandIn {
  return {
    name: `localhost/stand-in/${server}`,
    packages: ['base-files', 'dash', 'coreutils', 'sed', 'grep', `${server}-server`, `${server}-tools`],
    withDependencies: true,
    env: [PATH],
    config: ['--entrypoint=["/usr/local/bin/entrypoint.sh"]', '--cmd=redis-server', '--workingdir=/data'],
    version: ENTRYPOINT + SERVER,
    finish: (root) => {
      const local = join(root, 'usr/local/bin');
      mkdirSync(local, { recursive: true });
      const script = (name: string, text: string): void =>
        writeFileSync(join(local, name), text, { mode: 0o755 });
      script('entrypoint.sh', ENTRYPOINT);
      script('redis-server', SERVER.replaceAll('SERVER', server));
      if (server === 'valkey') symlinkSync('/usr/bin/valkey-cli', join(local, 'redis-cli'));
      mkdirSync(join(root, 'data'));
      chmodSync(join(root, 'data'), 0o777);
    },
  };
}

/** `node:24`: Debian with a shell, binutils and apt, Node.js (that of package.json) and the npm of this machine. */
function nodeImage(): StandIn {
  const node = join(ROOT, 'node_modules/node/bin/node');
  const npm = npmFolder();
  return {
    name: imageArgument('NODE_IMAGE'),
    packages: [
      'base-files',
      'dash',
      'coreutils',
      'sed',
      'grep',
      'findutils',
      'tar',
      'binutils',
      'libstdc++6',
      'apt',
      'dpkg',
    ],
    withDependencies: true,
    // A proxy that this machine trusts has to be trusted in there.
    env: [PATH, `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`],
    version: ['node', 'npm'].map((name) => versionOf(name === 'npm' ? npm : dirname(dirname(node)))).join(),
    finish: (root) => {
      for (const name of ['doc', 'locale', 'man', 'info'])
        rmSync(join(root, 'usr/share', name), { recursive: true, force: true });
      const local = join(root, 'usr/local');
      mkdirSync(join(local, 'bin'), { recursive: true });
      cpSync(node, join(local, 'bin/node'));
      cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
      for (const name of ['npm', 'npx'])
        symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, `bin/${name}`));
      writeFileSync(
        join(root, 'etc/apt/sources.list'),
        `deb [signed-by=${KEYRING}] ${MIRROR} ${SUITE} main\n`,
      );
      writeFileSync(join(root, 'var/lib/dpkg/status'), '');
      mkdirSync(join(root, dirname(AUTHORITIES)), { recursive: true });
      cpSync(AUTHORITIES, join(root, AUTHORITIES), { dereference: true });
    },
  };
}

/** `distroless/cc`: the packages that it is made of, and its user. */
function baseImage(): StandIn {
  return {
    name: imageArgument('BASE_IMAGE'),
    packages:
      'base-files netbase tzdata ca-certificates libc6 libssl3t64 libzstd1 zlib1g libgomp1 libstdc++6 libgcc-s1 gcc-14-base'.split(
        ' ',
      ),
    withDependencies: false,
    env: [PATH, `SSL_CERT_FILE=${AUTHORITIES}`],
    version: '',
    finish: (root) => {
      const user = `nonroot:x:${NONROOT}`;
      writeFileSync(
        join(root, 'etc/passwd'),
        `root:x:0:0:root:/root:/sbin/nologin\n${user}:${NONROOT}:nonroot:/home/nonroot:/sbin/nologin\n`,
      );
      writeFileSync(join(root, 'etc/group'), `root:x:0:\n${user}:\n`);
      const home = join(root, 'home/nonroot');
      mkdirSync(home);
      chmodSync(home, 0o700);
      chownSync(home, NONROOT, NONROOT);
    },
  };
}

/** By this file too: what a function does cannot be compared, and its text is another one in every runtime. */
function keyOf({ packages, env, version }: StandIn): string {
  const parts = [SUITE, ...packages, ...env, version, readFileSync(import.meta.filename, 'utf8')];
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
}

async function make(buildah: Buildah, standIn: StandIn, key: string): Promise<void> {
  buildah.log(`making a stand-in for ${standIn.name} of packages of Debian ${SUITE}`);
  const container = await buildah.do('from', `--name=${containerName('stand-in')}`, 'scratch');
  try {
    const root = await buildah.do('mount', container);
    await withFolder(async (folder) => {
      for (const archive of await download(folder, standIn)) await must('dpkg-deb', ['-x', archive, root]);
    });
    standIn.finish(root);
    const env = standIn.env.map((each) => `--env=${each}`);
    const settings = [...env, ...(standIn.config ?? [])];
    await buildah.do('config', ...settings, `--label=${LABEL}=${key}`, container);
    await buildah.do('commit', '--quiet', container, standIn.name);
  } finally {
    await buildah.do('rm', container);
  }
}

/** Paths of the packages, from a suite that need not be the machine's own, by an apt with state of its own. */
async function download(folder: string, { packages, withDependencies }: StandIn): Promise<string[]> {
  const [lists, cache, sources] = ['lists', 'cache', 'sources.list'].map((name) => join(folder, name));
  if (lists === undefined || cache === undefined || sources === undefined) return [];
  mkdirSync(join(lists, 'partial'), { recursive: true });
  mkdirSync(join(cache, 'archives/partial'), { recursive: true });
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${MIRROR} ${SUITE} main\n`);
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': lists,
    'Dir::State::status': '/dev/null',
    'Dir::Cache': cache,
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': 'root',
  };
  const apt = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await must('apt-get', [...apt, 'update']);
  const archives = join(cache, 'archives');
  if (withDependencies)
    await must('apt-get', [...apt, 'install', '-y', '-d', '--no-install-recommends', ...packages]);
  else await must('apt-get', [...apt, 'download', ...packages], archives);
  return readdirSync(archives).flatMap((name) => (name.endsWith('.deb') ? [join(archives, name)] : []));
}

async function must(command: string, args: readonly string[], cwd?: string): Promise<void> {
  const result = await run(command, args, cwd === undefined ? {} : { cwd });
  if (result.code === 0) return;
  throw new ClusterError(`\`${command} ${args.at(-1)}\` ended with code ${result.code}:\n${result.tail}`);
}

function npmFolder(): string {
  const npm = which('npm');
  if (npm === undefined) throw new ClusterError('expected npm on PATH');
  return dirname(dirname(realpathSync(npm)));
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
