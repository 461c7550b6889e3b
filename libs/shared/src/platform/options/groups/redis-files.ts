/** Checks the files that Redis needs before anything starts. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { CommonOptions } from '../parsing/table.ts';

const FILES = {
  '--redis-password-file': 'redisPasswordFile',
  '--redis-sentinel-password-file': 'redisSentinelPasswordFile',
  '--redis-tls-ca-file': 'redisTlsCaFile',
  '--redis-tls-cert-file': 'redisTlsCertFile',
  '--redis-tls-key-file': 'redisTlsKeyFile',
} as const;

const PEM = /^-----BEGIN [A-Z ]+-----$/mu;

/** The unusable files, in words that reveal nothing of their contents. */
export function redisFileProblems(options: Partial<CommonOptions>): string[] {
  const problems = problemsOfEach(options);
  return problems.length > 0 ? problems : certificateProblems(options);
}

function problemsOfEach(options: Partial<CommonOptions>): string[] {
  return Object.entries(FILES).flatMap(([flag, name]) => {
    const path = options[name];
    const problem = path === undefined ? undefined : problemOf(path, name.startsWith('redisTls'));
    return problem === undefined ? [] : [`${flag}: ${problem}`];
  });
}

/** Why certificates and key cannot be used together. OpenSSL's text is not shown. */
function certificateProblems(options: Partial<CommonOptions>): string[] {
  const { redisTlsCaFile, redisTlsCertFile, redisTlsKeyFile } = options;
  const files = { ca: redisTlsCaFile, cert: redisTlsCertFile, key: redisTlsKeyFile };
  const given = Object.entries(files).flatMap(([name, path]) => (path === undefined ? [] : [[name, path]]));
  try {
    createSecureContext(Object.fromEntries(given.map(([name, path = '']) => [name, readFileSync(path)])));
    return [];
  } catch (error) {
    const { code } = error as { code?: unknown };
    const why = typeof code === 'string' ? code : 'unreadable';
    return [
      `--redis-tls-cert-file: the certificates and the private key are invalid or do not match (${why})`,
    ];
  }
}

function problemOf(path: string, isPem: boolean): string | undefined {
  const expected = isPem ? 'expected a file in PEM' : 'expected a file with a password';
  const given = `given ${JSON.stringify(path)}`;
  try {
    const text = readFileSync(path, 'utf8');
    if (isPem && !PEM.test(text)) return `${expected}; ${given}, which is in another form`;
    return text.trim() === '' ? `${expected}; ${given}, which is empty` : undefined;
  } catch (error) {
    const { code } = error as { code?: unknown };
    return `${expected}; ${given} (${typeof code === 'string' ? code : 'unreadable'})`;
  }
}
