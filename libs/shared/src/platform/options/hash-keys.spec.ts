import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHashKeys } from './hash-keys.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reroll-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(content: string): string {
  const file = join(folder, 'keys');
  writeFileSync(file, content);
  return file;
}

describe('the keys of the hashes', () => {
  it('are none without a file', () => {
    expect(loadHashKeys(undefined)).toEqual({ ok: true, keys: [] });
  });

  it('are needed for markers under a key', () => {
    expect(loadHashKeys(undefined, true)).toEqual({
      ok: false,
      error: '--hash: expected a --hash-key-file with hmac-sha256; given none',
    });
  });

  it('are the lines of the file, in their order, without blanks around them', () => {
    const file = fileWith('  0123456789abcdef \r\n\nfedcba9876543210\n');
    expect(loadHashKeys(file)).toEqual({ ok: true, keys: ['0123456789abcdef', 'fedcba9876543210'] });
  });

  it('are not too short, and the error does not print them', () => {
    const result = loadHashKeys(fileWith('0123456789abcdef\nhunter2\n'));
    expect(result).toMatchObject({ ok: false });
    expect(JSON.stringify(result)).toContain('key 2 is shorter');
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('are not in an empty file', () => {
    expect(JSON.stringify(loadHashKeys(fileWith('\n')))).toContain('given an empty one');
  });

  it('are not in a file that is not there', () => {
    expect(JSON.stringify(loadHashKeys(join(folder, 'none')))).toContain('(ENOENT)');
  });
});
