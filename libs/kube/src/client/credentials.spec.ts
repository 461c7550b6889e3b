import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { loadKubeConfig, readCredentials, tokenConfig } from './credentials.ts';

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
