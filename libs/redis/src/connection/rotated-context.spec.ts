import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { RotatedContext } from './rotated-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'reroll-rotated-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** A certificate and its key, under these names. */
function write(cert: string, key: string): void {
  const fresh = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const args = [...fresh, '-days', '2', '-subj', '/CN=spec', '-keyout', at(key), '-out', at(cert)];
  execFileSync('openssl', args, { stdio: 'ignore' });
}

it('of certificates that are replaced one file after the other, the last whole ones are used', () => {
  write('tls.crt', 'tls.key');
  write('next.crt', 'next.key');
  const context = new RotatedContext({ ca: at('tls.crt'), cert: at('tls.crt'), key: at('tls.key') });
  const first = context.current();
  expect(first).toBeDefined();

  renameSync(at('next.crt'), at('tls.crt'));
  expect(context.current()).toBe(first);
  writeFileSync(at('tls.key'), '');
  expect(context.current()).toBe(first);
  renameSync(at('next.key'), at('tls.key'));
  expect(context.current()).not.toBe(first);
  rmSync(at('tls.crt'));
  rmSync(at('tls.key'));
  expect(context.current()).toBeDefined();
});
