import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { readCredentials, tokenConfig } from './credentials.ts';

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
