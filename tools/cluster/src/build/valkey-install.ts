import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheRoot } from './cache-dir.ts';
import { ClusterError } from '../errors.ts';
import { makeOnce } from './make-once.ts';
import { run, which } from '../run.ts';

/** Runs on Debian 12 and later; as with Redis, the tools hold the program under the name of a checker. */
const SOURCE =
  'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main';
const PACKAGE = 'valkey-tools';
const PROGRAM = join('usr', 'bin', 'valkey-check-rdb');

/**
 * A real Valkey server: `valkey-server` on PATH, else Debian's program, fetched with apt-get into the cache
 * folder once. Nothing is installed, and no package list of the machine is touched.
 * @throws ClusterError with what to install when neither is possible.
 */
export async function ensureValkey(): Promise<string> {
  const found = which('valkey-server');
  if (found !== undefined) return found;
  const make = async (draft: string): Promise<void> => {
    await download(draft);
    symlinkSync(PROGRAM, join(draft, 'valkey-server'));
  };
  return join(await makeOnce({ folder: join(cacheRoot(), 'valkey'), make }), 'valkey-server');
}

async function download(draft: string): Promise<void> {
  const apt = join(draft, 'apt');
  for (const each of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(apt, each), { recursive: true });
  writeFileSync(join(apt, 'sources.list'), `${SOURCE}\n`);
  const settings = {
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': apt,
    'Dir::Cache': join(apt, 'cache'),
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).map(([name, value]) => `-o${name}=${value}`);
  await must('apt-get', [...options, 'update'], draft);
  await must('apt-get', [...options, 'download', PACKAGE], draft);
  await must('sh', ['-c', `dpkg-deb -x ${PACKAGE}_*.deb . && rm -r ${PACKAGE}_*.deb apt`], draft);
}

async function must(command: string, args: readonly string[], cwd: string): Promise<void> {
  const result = which(command) === undefined ? undefined : await run(command, args, { cwd });
  if (result?.code === 0) return;
  throw new ClusterError(
    `expected a valkey-server on PATH, or to be able to fetch Debian's; install Valkey. ${command}: ` +
      (result?.tail ?? 'not found'),
  );
}
