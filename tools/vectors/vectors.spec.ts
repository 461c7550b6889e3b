import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readVectors } from './vectors.ts';

const OWN = join(import.meta.dirname, '../../libs/core/vectors');

const vectors = readVectors(OWN);

describe.each([
  ['decisions.jsonl', 1_500],
  ['containers.jsonl', 1_000],
  ['hashes.jsonl', 250],
  ['env-var-names.jsonl', 150],
])('%s', (file, count) => {
  const lines = vectors.filter((vector) => vector.file === file);

  it(`has ${count} lines`, () => {
    expect(lines).toHaveLength(count);
  });

  it.each(lines)('line $line agrees', ({ expected, got }) => {
    expect(got).toBe(expected);
  });
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

  it('accepts a folder with some of the files', async () => {
    await write('env-var-names.jsonl', `${NAME}\n${NAME}\n`);
    expect(await run(folder)).toEqual({ code: 0, out: '2 agree, 0 differ\n', err: '' });
  });

  it('accepts a text beside the files, and a file without a last line break', async () => {
    await write('env-var-names.jsonl', NAME);
    await write('README.md', '# Vectors\n');
    expect(await run(folder)).toMatchObject({ code: 0, out: '1 agree, 0 differ\n' });
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

  it.each(Object.entries(unreadable))(
    'refuses %s, and exits with 2',
    async (_, [file = '', content = '', message]) => {
      await write(file, content);
      const { code, out, err } = await run(folder);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(message);
    },
  );

  it('refuses a folder with nothing in it', async () => {
    expect(await run(folder)).toMatchObject({ code: 2, out: '' });
  });

  it('refuses a folder that does not exist', async () => {
    expect(await run(join(folder, 'none'))).toMatchObject({ code: 2, out: '' });
  });

  it('refuses two folders', async () => {
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
