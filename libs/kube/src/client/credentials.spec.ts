import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { CredentialStore, loadKubeConfig, readCredentials, tokenConfig } from './credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'reroll-credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

/** A kubeconfig file of one context, cluster and user of the same name. */
function file(name: string, user: object, server = `https://${name}.test`): string {
  const path = join(folder, name);
  const config = {
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function headersOf(kubeconfig: string): Promise<object> {
  return (await readCredentials(loadKubeConfig({ kubeconfig }))).headers;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The API server heeds a client certificate, and impersonation, before a token. */
test('a token is the only credentials, whatever the kubeconfig has', async () => {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: 'https://127.0.0.1:6443', caData: base64('ca'), skipTLSVerify: false }],
    users: [
      { name: 'u', token: 'own', certData: base64('cert'), keyData: base64('key'), impersonateUser: 'root' },
    ],
    contexts: [{ name: 'x', cluster: 'c', user: 'u', namespace: 'reroll' }],
    currentContext: 'x',
  });
  expect((await readCredentials(config)).tls).toHaveProperty('cert');
  const { headers, tls } = await readCredentials(tokenConfig(config, 'token-of-ann'));
  expect(headers).toEqual({ authorization: 'Bearer token-of-ann' });
  expect(Object.keys(tls)).not.toContain('cert');
  expect(Object.keys(tls)).not.toContain('key');
  expect(tls['ca']?.toString()).toBe('ca');
});

describe('a kubeconfig file, as kubectl reads it', () => {
  test('has a token in a file, which is relative to it, is read again, and wins over one beside it', async () => {
    writeFileSync(join(folder, 'token'), 'first\n');
    const kubeconfig = file('filed', { tokenFile: 'token', token: 'old' });
    expect(await headersOf(kubeconfig)).toEqual({ authorization: 'Bearer first' });
    writeFileSync(join(folder, 'token'), 'second\n');
    expect(await headersOf(kubeconfig)).toEqual({ authorization: 'Bearer second' });
  });

  test('impersonates a user with groups, uid and extra fields', async () => {
    const kubeconfig = file('as', {
      token: 'own',
      as: 'ann',
      'as-uid': 'u-1',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'Example.com/scope(1)': ['x', 'y'] },
    });
    expect(await headersOf(kubeconfig)).toEqual({
      authorization: 'Bearer own',
      'impersonate-user': 'ann',
      'impersonate-uid': 'u-1',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fscope%281%29': ['x', 'y'],
    });
  });

  test('is one of several, of which some may be missing, and the first that names a context wins', () => {
    const list = [join(folder, 'none'), file('one', { token: '1' }), file('two', { token: '2' })];
    for (const [key, source] of [
      ['', { kubeconfig: list.join(delimiter) }],
      ['KUBECONFIG', {}],
    ] as const) {
      vi.stubEnv(key || 'UNUSED', list.join(delimiter));
      const config = loadKubeConfig(source);
      expect(config.getCurrentContext()).toBe('one');
      expect(config.getContexts().map(({ name }) => name)).toEqual(['one', 'two']);
    }
  });
});

const IN_POD = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

test.skipIf(IN_POD)('without any kubeconfig it is told where one was looked for', () => {
  vi.stubEnv('KUBECONFIG', undefined);
  vi.stubEnv('HOME', folder);
  expect(() => loadKubeConfig({})).toThrow(
    expect.objectContaining({ reason: 'NoKubeconfig', message: expect.stringContaining('~/.kube/config') }),
  );
});

test('a plugin that hangs is given up, and the next one who asks has it run again', async () => {
  const marks = join(folder, 'runs');
  const args = ['-c', `echo x >> ${marks}; exec sleep 10`];
  const kubeconfig = file('hung', {
    exec: { command: 'sh', args, apiVersion: 'client.authentication.k8s.io/v1' },
  });
  const store = new CredentialStore({ kubeconfig, timeoutMs: 1_500 });
  for (const runs of ['x\n', 'x\nx\n']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect(store.get()).rejects.toMatchObject({ reason: 'NotObtained', retryable: true });
    expect(readFileSync(marks, 'utf8')).toBe(runs);
  }
});

describe('after a refusal', () => {
  /** A kubeconfig of two contexts, of which `current` is the current one. */
  function contexts(current: string, server = 'https://a.test'): string {
    const kubeconfig = join(folder, 'contexts');
    const each = (name: string, token: string, at: string) => ({
      clusters: { name, cluster: { server: at } },
      users: { name, user: { token } },
      contexts: { name, context: { cluster: name, user: name } },
    });
    const both = [each('a', `of-a-${current}`, server), each('b', 'of-b', 'https://b.test')];
    const all = (key: 'clusters' | 'users' | 'contexts') => both.map((one) => one[key]);
    const config = { clusters: all('clusters'), users: all('users'), contexts: all('contexts') };
    writeFileSync(kubeconfig, JSON.stringify({ ...config, 'current-context': current }));
    return kubeconfig;
  }

  test('the same context is read again, whichever is the current one by then', async () => {
    const store = new CredentialStore({ kubeconfig: contexts('a') });
    const refused = await store.get();
    contexts('b');
    expect((await store.replace(refused))?.headers).toEqual({ authorization: 'Bearer of-a-b' });
  });

  test('no credentials are for a context that has another server by then', async () => {
    const store = new CredentialStore({ kubeconfig: contexts('a') });
    const refused = await store.get();
    contexts('b', 'https://other.test');
    await expect(store.replace(refused)).rejects.toMatchObject({ reason: 'OtherServer', retryable: false });
  });

  test('no credentials are of another context that a caller of its own rules loads', async () => {
    const load = () => loadKubeConfig({ kubeconfig: join(folder, 'contexts') });
    contexts('a');
    const store = new CredentialStore({ load });
    const refused = await store.get();
    contexts('b');
    await expect(store.replace(refused)).rejects.toMatchObject({ reason: 'OtherServer' });
  });
});
