import { describe, expect, it } from 'vitest';
import { parseOptions } from '../parsing/parse.ts';

function parse(...args: readonly string[]) {
  return parseOptions('admin', ['--redis-url=redis://a', ...args], {});
}

describe('--api-trusted-proxies', () => {
  it.each(['10.0.0.0/8', '10.0.0.1', 'fd00::/8', '::1', '0.0.0.0/0'])('takes %s', (given) => {
    const parsed = parse(`--api-trusted-proxies=192.168.0.0/16,${given}`);
    expect(parsed).toMatchObject({ ok: true, options: { apiTrustedProxies: ['192.168.0.0/16', given] } });
  });

  it.each(['10.0.0.0/33', 'fd00::/129', '10.0.0/8', 'ingress', '10.0.0.0/8/8', '10.0.0.0/', '*'])(
    'refuses %s',
    (given) => {
      expect(parse(`--api-trusted-proxies=${given}`)).toEqual({
        ok: false,
        errors: [expect.stringContaining('--api-trusted-proxies: expected networks such as 10.0.0.0/8')],
      });
    },
  );

  it('trusts nobody by default', () => {
    expect(parse()).toMatchObject({ ok: true, options: { apiTrustedProxies: [] } });
  });
});
