import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeOnce } from '../src/build/make-once.ts';
import { waitUntil } from '../src/wait.ts';
import { freshDir, processesOf, script } from './helpers.ts';

const KEY = '0123456789abcdef';

async function made(folder: string): Promise<void> {
  await makeOnce({
    folder,
    make: (draft) => Promise.resolve(writeFileSync(join(draft, 'program'), basename(draft))),
  });
}

it('a process that is killed leaves no compiler running, and its draft is nobody else’s', async () => {
  const root = freshDir().parent;
  const folder = join(root, `helm-${KEY}`);
  const source = (name: string): string => JSON.stringify(join(import.meta.dirname, '../src', name));
  // The foreground of a shell, as a compiler is that of `go build`.
  const work = `draft => run('sh', ['-c', 'sleep 600; true'], { cwd: draft })`;
  const code = `const { makeOnce } = await import(${source('build/make-once.ts')});
    const { run } = await import(${source('run.ts')});
    await makeOnce({ folder: ${JSON.stringify(folder)}, make: ${work} });`;
  const { pid, done } = script(['--input-type=module', '-e', code]);
  const draft = `${folder}.building-${pid}`;
  await waitUntil(() => processesOf(draft).length === 2, { what: 'the build to run', timeoutMs: 20_000 });
  process.kill(pid, 'SIGKILL');
  await done;
  await waitUntil(() => processesOf(draft).length === 0, { what: 'the build to end', timeoutMs: 10_000 });
  await made(folder);
  expect(readFileSync(join(folder, 'program'), 'utf8')).toBe(`helm-${KEY}.building-${process.pid}`);
  expect(readdirSync(root)).toEqual([`helm-${KEY}`]);
});
