import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeOnce } from '../src/build/make-once.ts';
import { waitUntil } from '../src/wait.ts';
import { freshDir, processesOf, script } from './helpers.ts';

const KEY = '0123456789abcdef';
const OTHER = 'fedcba9876543210';
const LONG_AGO = new Date(Date.now() - 40 * 24 * 60 * 60_000);

/** Folders of a cache in which one was made long ago. */
function cacheWith(...names: readonly string[]): string {
  const { parent } = freshDir();
  for (const name of names) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, 'program'), 'before');
    utimesSync(join(parent, name), LONG_AGO, LONG_AGO);
  }
  return parent;
}

async function made(folder: string): Promise<void> {
  await makeOnce({
    folder,
    make: (draft) => Promise.resolve(writeFileSync(join(draft, 'program'), basename(draft))),
  });
}

it('a folder of the cache that is used stays, and counts as used', async () => {
  const root = cacheWith(`helm-${KEY}`);
  await made(join(root, `helm-${KEY}`));
  expect(readFileSync(join(root, `helm-${KEY}`, 'program'), 'utf8')).toBe('before');
  expect(statSync(join(root, `helm-${KEY}`)).mtimeMs).toBeGreaterThan(LONG_AGO.getTime());
});

it('what nobody has used for weeks goes when it is made with another key, and nothing else', async () => {
  const kept = [`kube-node-${OTHER}`, `helm-renderer-${OTHER}`, 'helm', 'redis'];
  const root = cacheWith(`helm-${OTHER}`, ...kept);
  mkdirSync(join(root, 'helm-0000000000000000'));
  await made(join(root, `helm-${KEY}`));
  expect(readdirSync(root).sort()).toEqual([...kept, 'helm-0000000000000000', `helm-${KEY}`].sort());
});

it('a process that is killed leaves no compiler running, and its draft is nobody else’s', async () => {
  const root = cacheWith();
  const folder = join(root, `helm-${KEY}`);
  const source = (name: string): string => JSON.stringify(join(import.meta.dirname, '../src', name));
  // The foreground of a shell, as a compiler is that of `go build`.
  const work = `draft => {
    const running = run('sh', ['-c', 'sleep 600; true'], { cwd: draft });
    writeFileSync(draft + '/watched', '');
    return running;
  }`;
  const code = `const { makeOnce } = await import(${source('build/make-once.ts')});
    const { run } = await import(${source('run.ts')});
    const { writeFileSync } = await import('node:fs');
    await makeOnce({ folder: ${JSON.stringify(folder)}, make: ${work} });`;
  const { pid, done } = script(['--input-type=module', '-e', code]);
  const draft = `${folder}.building-${pid}`;
  // Between its start and the next line, nobody watches over it.
  const isWatched = (): boolean => existsSync(join(draft, 'watched')) && processesOf(draft).length === 2;
  await waitUntil(isWatched, { what: 'the build to run', timeoutMs: 20_000 });
  process.kill(pid, 'SIGKILL');
  await done;
  await waitUntil(() => processesOf(draft).length === 0, { what: 'the build to end', timeoutMs: 10_000 });
  await made(folder);
  expect(readFileSync(join(folder, 'program'), 'utf8')).toBe(`helm-${KEY}.building-${process.pid}`);
  expect(readdirSync(root)).toEqual([`helm-${KEY}`]);
});
