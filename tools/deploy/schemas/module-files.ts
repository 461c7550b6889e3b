import { createHash } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BuildOptions } from '../../cluster/src/build/build.ts';
import { explainBuildFailure, explainMissingGo } from '../../cluster/src/build/build-failure.ts';
import { cacheRoot } from '../../cluster/src/build/cache-dir.ts';
import { makeOnce } from '../../cluster/src/build/make-once.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { run, which } from '../../cluster/src/run.ts';

/** A Go module that carries schemas; `sum` is what Go's own go.sum would hold. */
export interface Pin {
  readonly module: string;
  readonly sum: string;
  readonly files: readonly string[];
}

/**
 * Paths of the files of these modules, from the cache; they are fetched through the module proxy first.
 * @throws ClusterError that says what is missing.
 */
export async function ensureModuleFiles(
  pins: readonly Pin[],
  options: BuildOptions,
): Promise<readonly string[]> {
  const folders = [];
  for (const pin of pins) folders.push(await folderOf(pin, options));
  return folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
}

async function folderOf(pin: Pin, { log, signal }: BuildOptions): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify(pin)).digest('hex').slice(0, 16);
  const folder = join(cacheRoot(), `schemas-${key}`);
  const make = (draft: string): Promise<void> => fetchInto(draft, pin);
  return await makeOnce({ folder, what: `fetches ${pin.module}`, log, signal, make });
}

async function fetchInto(draft: string, { module, sum, files }: Pin): Promise<void> {
  if (which('go') === undefined) throw explainMissingGo('', `files of ${module}`);
  const result = await run('go', ['mod', 'download', '-json', module], {
    env: { GOFLAGS: '', GOWORK: 'off' },
  });
  if (result.code !== 0) throw explainBuildFailure(`go mod download ${module}`, result, 'schemas');
  const { Dir: source, Sum: found } = JSON.parse(result.stdout) as { Dir: string; Sum: string };
  if (found !== sum) throw new ClusterError(`expected ${module} with sum ${sum}, found ${found}`);
  for (const file of files) cpSync(join(source, file), join(draft, basename(file)));
}
