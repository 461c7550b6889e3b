import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { run } from '../../tools/cluster/src/run.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';

/** The role of the program that the chart's Job runs, against a real API server. */
const PROGRAM = join(import.meta.dirname, '../../apps/reroll/dist/main.js');
const RANDOM = /^[A-Za-z0-9]{48}$/u;

let space: Space;
beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
});

async function makeSecrets(...args: readonly string[]): Promise<{ code: number; tail: string }> {
  const env = { KUBECONFIG: sharedCluster().kubeconfig };
  const all = ['make-secrets', `--namespace=${space.name}`, ...args];
  const { code, tail } = await run(process.execPath, [PROGRAM, ...all], { env });
  return { code, tail };
}

async function values(name: string): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await space.get(`Secret/${name}`);
  const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]);
  return Object.fromEntries(texts) as Record<string, string>;
}

it('makes Secrets once: what is there stays, a missing key is added, and no value is printed', async () => {
  const args = ['--random=passwords:a,b', '--random=keys:keys', '--certificate=tls:redis,127.0.0.1'];
  const first = await makeSecrets(...args);
  expect(first).toMatchObject({ code: 0 });
  const made = { passwords: await values('passwords'), keys: await values('keys'), tls: await values('tls') };
  const random = expect.stringMatching(RANDOM) as string;
  expect(made).toMatchObject({ passwords: { a: random, b: random }, keys: { keys: random } });
  expect(made.passwords['a']).not.toBe(made.passwords['b']);
  expect(await space.get('Secret/tls')).toMatchObject({ type: 'kubernetes.io/tls' });
  expect(Object.keys(made.tls).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);

  const second = await makeSecrets('--random=passwords:a,b,c', ...args.slice(1));
  expect(second).toMatchObject({ code: 0 });
  const { c, ...rest } = await values('passwords');
  expect(c).toMatch(RANDOM);
  expect({ passwords: rest, keys: await values('keys'), tls: await values('tls') }).toEqual(made);
  expect(second.tail).toContain('Secret passwords: added c');
  expect(second.tail).toContain('Secret keys: exists, left unchanged');
  const printed = first.tail + second.tail;
  for (const value of [...Object.values(made).flatMap((each) => Object.values(each)), c ?? ''])
    expect(printed).not.toContain(value);
});

it('two at a time agree', async () => {
  const runs = await Promise.all([1, 2, 3].map(() => makeSecrets('--random=contested:a,b')));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  const { resourceVersion } = (await space.get('Secret/contested')).metadata;
  expect(await makeSecrets('--random=contested:a,b')).toMatchObject({ code: 0 });
  expect((await space.get('Secret/contested')).metadata.resourceVersion).toBe(resourceVersion);
});

it('says what was expected and what was given, and what cannot be done', async () => {
  expect(await makeSecrets('--random=a')).toEqual({
    code: 2,
    tail: expect.stringContaining('expected --random=NAME:ITEM,ITEM,…; given "a"') as string,
  });
  const elsewhere = await makeSecrets('--namespace=not-there', '--random=a:b');
  expect(elsewhere).toMatchObject({ code: 1 });
  expect(elsewhere.tail).toContain('cannot make the Secrets in namespace not-there');
});
