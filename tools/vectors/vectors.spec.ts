import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readVectors, UnreadableVectors } from './vectors.ts';

const OWN = join(import.meta.dirname, '../../libs/core/vectors');

const vectors = readVectors(OWN);

it.each([
  ['decisions.jsonl', 1_500],
  ['containers.jsonl', 1_000],
  ['hashes.jsonl', 250],
  ['env-var-names.jsonl', 150],
])('each line of %s agrees, and there are %i', (file, count) => {
  const lines = vectors.filter((vector) => vector.file === file);
  expect(lines).toHaveLength(count);
  expect(lines.filter(({ expected, got }) => got !== expected)).toEqual([]);
});

describe('the command', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vectors-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  const write = (file: string, content: string): Promise<void> => writeFile(join(folder, file), content);
  const NAME = '{"source":"a.b","kind":"SECRET","envVar":"STAKATER_A_B_SECRET"}';
  const WRONG = '{"source":"a.b","kind":"SECRET","envVar":"STAKATER_AB_SECRET"}';

  it('agrees with the vectors of the project when given no folder', async () => {
    expect(await run()).toEqual({ code: 0, out: '2900 agree, 0 differ\n', err: '' });
  });

  it('accepts a folder with some of the files, a text beside them, and a file without a last line break', async () => {
    await write('env-var-names.jsonl', `${NAME}\n${NAME}`);
    await write('README.md', '# Vectors\n');
    expect(readVectors(folder)).toHaveLength(2);
  });

  it('names each line that differs, with what was expected and what was got, and exits with 1', async () => {
    await write('env-var-names.jsonl', `${NAME}\n${WRONG}\n`);
    expect(await run(folder)).toEqual({
      code: 1,
      out:
        'env-var-names.jsonl:2: expected {"envVar":"STAKATER_AB_SECRET"}, got {"envVar":"STAKATER_A_B_SECRET"}\n' +
        '1 agree, 1 differ\n',
      err: '',
    });
  });

  const unreadable = {
    'a line that is no JSON': ['env-var-names.jsonl', `${NAME}\n{\n`, 'env-var-names.jsonl:2: '],
    'an empty line': ['env-var-names.jsonl', `${NAME}\n\n${NAME}\n`, 'env-var-names.jsonl:2: '],
    'a line that lacks the answer': [
      'env-var-names.jsonl',
      '{"source":"a.b","kind":"SECRET"}\n',
      'env-var-names.jsonl:1: ',
    ],
    'a kind that is not known': [
      'env-var-names.jsonl',
      NAME.replace('"SECRET"', '"Volume"'),
      'expected CONFIGMAP, SECRET or SECRETPROVIDERCLASS',
    ],
    'a file that is not known': ['names.jsonl', NAME, 'found names.jsonl'],
    'nothing but a text': ['README.md', '# Vectors\n', 'found none'],
    'no line in any file': ['hashes.jsonl', '', 'found no line of any'],
  };

  it.each(Object.entries(unreadable))('refuses %s', async (_, [file = '', content = '', message = '']) => {
    await write(file, content);
    expect(() => readVectors(folder)).toThrow(UnreadableVectors);
    expect(() => readVectors(folder)).toThrow(message);
  });

  it('refuses a folder with nothing in it, and one that does not exist', () => {
    expect(() => readVectors(folder)).toThrow(UnreadableVectors);
    expect(() => readVectors(join(folder, 'none'))).toThrow(UnreadableVectors);
  });

  it('exits with 2 for a folder that it refuses, and for two folders', async () => {
    expect(await run(folder)).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining('found none') as string,
    });
    expect(await run(folder, folder)).toMatchObject({ code: 2, out: '' });
  });
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--conditions=@reroll/source', join(import.meta.dirname, 'main.ts'), ...args],
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}
