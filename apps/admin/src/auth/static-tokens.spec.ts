import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from './caller.ts';
import { StaticTokens, StaticTokensError } from './static-tokens.ts';

let folder: string;
let file: string;
let unusable: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reroll-tokens-'));
  file = join(folder, 'tokens.yaml');
  unusable = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function entry(name: string, rest: object = {}): object {
  return { name, sha256: sha256(`token of ${name}`), access: 'read', namespaces: ['*'], ...rest };
}

function tokensOf(...entries: readonly object[]): StaticTokens {
  writeFileSync(file, JSON.stringify(entries));
  return open();
}

function open(): StaticTokens {
  return new StaticTokens(file, { anonymous: undefined, onUnusable: (problem) => unusable.push(problem) });
}

async function mays(caller: Caller): Promise<object> {
  const ask = (writes: boolean): Promise<boolean> =>
    caller.mayRequest({ method: writes ? 'post' : 'get', path: '/api/v1/queues', writes });
  return {
    read: await ask(false),
    write: await ask(true),
    all: await caller.seesAll(),
    shop: await caller.sees('shop'),
    bank: await caller.sees('bank'),
    web: await caller.mayChange('Deployment/shop/web'),
    vault: await caller.mayChange('Deployment/bank/vault'),
    steer: await caller.maySteer(),
    overrideFreeze: await caller.mayOverrideFreeze('shop'),
  };
}

const NOTHING = {
  read: true,
  write: false,
  all: false,
  shop: false,
  bank: false,
  web: false,
  vault: false,
  steer: false,
  overrideFreeze: false,
};

describe('the holder of a token', () => {
  it.each<[string, object, object]>([
    ['may read everything', {}, { all: true, shop: true, bank: true }],
    [
      'may write everywhere',
      { access: 'write' },
      { write: true, all: true, shop: true, bank: true, web: true, vault: true, steer: true },
    ],
    ['may read their namespaces', { namespaces: ['shop'] }, { shop: true }],
    [
      'may write in their namespaces, and not for everybody',
      { access: 'write', namespaces: ['shop'] },
      { write: true, shop: true, web: true },
    ],
  ])('%s', async (_sentence, rest, expected) => {
    const caller = await tokensOf(entry('ann', rest)).authenticate('token of ann');
    expect(caller.name).toBe('ann');
    expect(await mays(caller)).toEqual({ ...NOTHING, ...expected });
  });

  it('is nobody with another token', async () => {
    const tokens = tokensOf(entry('ann'), entry('bob'));
    await expect(tokens.authenticate('token of carol')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect((await tokens.authenticate('token of bob')).name).toBe('bob');
  });
});

describe('the file', () => {
  it('may be YAML', async () => {
    writeFileSync(
      file,
      `- name: ann\n  sha256: ${sha256('t').toUpperCase()}\n  access: read\n  namespaces: ["*"]\n`,
    );
    expect((await open().authenticate('t')).name).toBe('ann');
  });

  it('is read anew when it changes, and who is taken out is known no more', async () => {
    const tokens = tokensOf(entry('ann'));
    const ann = await tokens.authenticate('token of ann');
    expect(await ann.isKnown()).toBe(true);
    writeFileSync(file, JSON.stringify([entry('bob')]));
    expect(await ann.isKnown()).toBe(false);
    await expect(tokens.authenticate('token of ann')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect((await tokens.authenticate('token of bob')).name).toBe('bob');
  });

  it.each<[string, object]>([
    ['another right', { access: 'write' }],
    ['fewer namespaces', { namespaces: ['shop'] }],
    ['another name', { name: 'ann2' }],
  ])('that gives an entry %s ends what began with the former one', async (_sentence, rest) => {
    const tokens = tokensOf(entry('ann', { namespaces: ['shop', 'bank'] }), entry('bob'));
    const ann = await tokens.authenticate('token of ann');
    const bob = await tokens.authenticate('token of bob');
    const narrowed = entry('ann', { namespaces: ['shop', 'bank'], ...rest });
    writeFileSync(file, JSON.stringify([entry('bob'), narrowed]));
    expect(await ann.isKnown()).toBe(false);
    expect(await bob.isKnown()).toBe(true);
    expect(await (await tokens.authenticate('token of ann')).isKnown()).toBe(true);
  });

  it.each<[string, string]>([
    ['is emptied', ''],
    ['has nothing but a newline', '\n'],
    ['becomes an empty list', '[]'],
  ])('that %s revokes everybody, and it is told once', async (_sentence, text) => {
    const tokens = tokensOf(entry('ann'));
    const ann = await tokens.authenticate('token of ann');
    writeFileSync(file, text);
    expect(await ann.isKnown()).toBe(false);
    await expect(tokens.authenticate('token of ann')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect(unusable).toEqual([expect.stringContaining('no token is known')]);
  });

  it('that is deleted leaves what was read before, and is told once, until it is there again', async () => {
    const tokens = tokensOf(entry('ann'));
    rmSync(file);
    expect((await tokens.authenticate('token of ann')).name).toBe('ann');
    expect((await tokens.authenticate('token of ann')).name).toBe('ann');
    expect(unusable).toEqual([expect.stringMatching(/missing or cannot be read; .* stay in force/u)]);
    writeFileSync(file, JSON.stringify([entry('bob')]));
    await expect(tokens.authenticate('token of ann')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect(unusable).toHaveLength(1);
  });

  it.each([
    ['empty', ''],
    ['an empty list', '[]'],
  ])('that is %s at the start has no tokens, and that is told once', async (_sentence, text) => {
    writeFileSync(file, text);
    const tokens = open();
    await expect(tokens.authenticate('token of ann')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect(unusable).toEqual([expect.stringContaining('no token is known')]);
    writeFileSync(file, JSON.stringify([entry('ann')]));
    expect((await tokens.authenticate('token of ann')).name).toBe('ann');
  });

  it('that is missing at the start is refused', () => {
    expect(open).toThrow(StaticTokensError);
  });

  it('that becomes unusable leaves what was read before, and is told once', async () => {
    const tokens = tokensOf(entry('ann'));
    writeFileSync(file, '- name: ann\n  sha256: 1234\n');
    expect((await tokens.authenticate('token of ann')).name).toBe('ann');
    expect((await tokens.authenticate('token of ann')).name).toBe('ann');
    expect(unusable).toHaveLength(1);
    expect(unusable[0]).toContain('expected a list of name, sha256');
  });

  it.each<[string, string]>([
    ['is no list', 'name: ann'],
    ['is no YAML', '[{'],
    ['has a token in the place of its hash', JSON.stringify([entry('ann', { sha256: 'hunter2' })])],
    ['has an unknown right', JSON.stringify([entry('ann', { access: 'hunter2' })])],
    ['has no namespaces', JSON.stringify([entry('ann', { namespaces: [] })])],
    ['has a key that nobody expects', JSON.stringify([entry('ann', { hunter2: true })])],
  ])('that %s is refused, and nothing of it is told', (_sentence, text) => {
    writeFileSync(file, text);
    expect(open).toThrow(StaticTokensError);
    expect(open).toThrow(/expected a list of name, sha256/u);
    expect(open).not.toThrow(/hunter2/u);
  });
});
