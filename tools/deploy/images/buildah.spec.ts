import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Buildah, containerName, tidy } from './buildah.ts';

/** A folder with a `buildah` that has these containers, and writes down which ones it is to remove. */
function buildahWith(...containers: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-buildah-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'containers'), containers.map((each) => `${each}\n`).join(''));
  writeFileSync(join(folder, 'removed'), '');
  const lists = `*" containers "*) cat ${folder}/containers;;`;
  const removes = `*" rm "*) for last; do :; done; echo "$last" >>${folder}/removed;;`;
  writeFileSync(join(folder, 'buildah'), `#!/bin/sh\ncase "$*" in ${lists} ${removes} esac\n`);
  chmodSync(join(folder, 'buildah'), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH'] ?? ''}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

async function removed(folder: string): Promise<string[]> {
  await tidy(new Buildah(folder, 'overlay', { log: () => undefined }));
  return readFileSync(join(folder, 'removed'), 'utf8').split('\n').slice(0, -1);
}

it('containers of other processes that run stay; those of killed ones and of their builds go', async () => {
  const own = containerName('stand-in');
  const stay = `reroll-${process.ppid}-reroll`;
  const folder = buildahWith(own, stay, 'reroll-99999999-context', 'working-container');
  expect(await removed(folder)).toEqual([own, 'reroll-99999999-context', 'working-container']);
});

it('there is nothing to remove where there are no containers', async () => {
  expect(await removed(buildahWith())).toEqual([]);
});
