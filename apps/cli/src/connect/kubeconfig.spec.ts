import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ClusterAccess } from './cluster-access.ts';
import { contextNames, loadKubeconfig } from './kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'reroll-cli-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  return path;
}
const cluster = (name: string, server = `https://${name}.test`) => ({ name, cluster: { server } });
const user = (name: string, token = `token-of-${name}`) => ({ name, user: { token } });
const context = (name: string, of: string, who: string, namespace?: string) => ({
  name,
  context: { cluster: of, user: who, namespace },
});

const one = file('one', {
  clusters: [cluster('blue')],
  users: [user('alice'), { name: 'filed', user: { token: 'old', tokenFile: 'token' } }],
  contexts: [context('work', 'blue', 'alice', 'shop'), context('filed', 'blue', 'filed')],
  'current-context': 'work',
});
file('token', 'token-of-a-file\n');
const two = file('two', {
  clusters: [cluster('blue', 'https://other.test'), cluster('green')],
  users: [user('bob')],
  contexts: [context('work', 'green', 'bob'), context('play', 'green', 'bob')],
  'current-context': 'play',
});
const ENV = { KUBECONFIG: [join(folder, 'missing'), one, two].join(':') };

async function who(flags: object, env: Readonly<Record<string, string>> = ENV): Promise<unknown> {
  const access = new ClusterAccess(flags, env, undefined);
  const { headers } = await access.credentials();
  const found = {
    at: access.origin,
    as: await access.bearerToken(),
    in: access.namespace,
    for: headers['impersonate-user'],
  };
  await access.close();
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

describe('the kubeconfig, by the rules of kubectl', () => {
  it.each([
    [
      'of several files the first that says something wins',
      {},
      { at: 'https://blue.test', as: 'token-of-alice', in: 'shop' },
    ],
    ['a context of a later file', { context: 'play' }, { at: 'https://green.test', as: 'token-of-bob' }],
    ['another cluster', { cluster: 'green' }, { at: 'https://green.test', as: 'token-of-alice', in: 'shop' }],
    ['another user', { user: 'bob' }, { at: 'https://blue.test', as: 'token-of-bob', in: 'shop' }],
    ['a token instead of the user', { token: 'mine' }, { at: 'https://blue.test', as: 'mine', in: 'shop' }],
    [
      'impersonation',
      { as: 'carol' },
      { at: 'https://blue.test', as: 'token-of-alice', in: 'shop', for: 'carol' },
    ],
    [
      'a token from a file wins over one beside it, and its path is relative',
      { context: 'filed' },
      { at: 'https://blue.test', as: 'token-of-a-file' },
    ],
    ['one file that is named', { kubeconfig: two }, { at: 'https://green.test', as: 'token-of-bob' }],
  ])('%s', async (_, flags, found) => {
    expect(await who(flags)).toEqual(found);
  });

  it.each([
    [
      'a context that is not there',
      { context: 'x' },
      'the kubeconfig has no such entry for --context: given "x", it has work, filed, play',
    ],
    [
      'a cluster that is not there',
      { cluster: 'x' },
      'the kubeconfig has no such entry for the cluster: given "x", it has blue, green',
    ],
    [
      'a user that is not there',
      { user: 'x' },
      'the kubeconfig has no such entry for --user: given "x", it has alice, filed, bob',
    ],
    ['a file that is not there', { kubeconfig: '/x' }, 'expected --kubeconfig to name a file, given "/x"'],
  ])('%s is told with what there is', (_, flags, message) => {
    expect(() => loadKubeconfig(flags, ENV)).toThrow(expect.objectContaining({ message }));
  });

  it.each([
    ['no YAML', 'token: "s3cret'],
    ['a text', 'root:x:0:0:s3cret:/root:/bin/sh'],
    ['a manifest', 'kind: Secret'],
  ])('a file that is no kubeconfig but %s is named, and nothing of it is quoted', (_, content) => {
    const bad = file('bad', content);
    expect(() => loadKubeconfig({ kubeconfig: bad }, {})).toThrow(
      expect.objectContaining({ message: `${bad} is not a kubeconfig that can be read` }),
    );
  });

  it('none at all is told with where it was looked for', () => {
    expect(() => loadKubeconfig({}, { HOME: '/home/x' })).toThrow(
      'found no kubeconfig: looked for /home/x/.kube/config',
    );
  });

  it('contexts can be listed for completion, and no kubeconfig lists none', () => {
    expect(contextNames({}, ENV)).toEqual(['work', 'filed', 'play']);
    expect(contextNames({}, {})).toEqual([]);
  });
});
