import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheRoot } from '../../cluster/src/build/cache-dir.ts';
import { makeOnce } from '../../cluster/src/build/make-once.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { run, which } from '../../cluster/src/run.ts';

/** Debian's package of Prometheus holds promtool; the package itself is not installed: it brings a service. */
const PACKAGE = 'prometheus';

/**
 * The path of `promtool`: on PATH, else taken once out of Debian's package into the cache folder.
 * @throws ClusterError with what to install when neither is possible.
 */
export async function ensurePromtool(): Promise<string> {
  const found = which('promtool');
  if (found !== undefined) return found;
  return join(await makeOnce({ folder: join(cacheRoot(), 'promtool'), make: unpack }), 'usr/bin/promtool');
}

async function unpack(draft: string): Promise<void> {
  await step('apt-get', ['download', PACKAGE], draft).catch(async () => {
    await step('apt-get', ['update'], draft);
    await step('apt-get', ['download', PACKAGE], draft);
  });
  const archive = readdirSync(draft).find((name) => name.endsWith('.deb')) ?? '';
  await step('dpkg-deb', ['-x', archive, '.'], draft);
  rmSync(join(draft, archive));
}

async function step(command: string, args: readonly string[], cwd: string): Promise<void> {
  const advice = 'install promtool, which comes with Prometheus, and put it on PATH';
  if (which(command) === undefined)
    throw new ClusterError(`expected promtool on PATH, or ${command} to fetch it with: ${advice}`);
  const result = await run(command, args, { cwd });
  if (result.code !== 0)
    throw new ClusterError(`${command} ${args[0]} ended with ${result.code}: ${advice}\n${result.tail}`);
}
