import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../cluster/src/run.ts';
import { ROLES } from '../deploy/images/dockerfile.ts';

const APPS = join(import.meta.dirname, '../../apps');
/** May be part of a program under Apache-2.0 if their text comes with it. */
const PERMISSIVE = /^(0BSD|Apache-2.0|BSD-[23]-Clause|BlueOak-1.0.0|ISC|MIT|Python-2.0|Unlicense)$/;

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
}

const NEST = ['@kubernetes/client-node', '@nestjs/core', 'ioredis', 'tslib'];

describe.each([
  ['watcher', NEST],
  ['worker', NEST],
  ['admin', NEST],
  ['reroll', NEST],
  ['cli', ['@kubernetes/client-node', 'commander', 'eventsource-parser', 're2js', 'yaml']],
])('beside the bundle of the %s', (app, expected) => {
  const dist = join(APPS, app, 'dist');
  const { components } = JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')) as {
    components: readonly Component[];
  };

  it('the SBOM names what is in it, what others brought too, and nothing that is only for development', () => {
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(expected));
    for (const name of ['vitest', 'oxlint', 'typescript', 'nx']) expect(names).not.toContain(name);
    for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/[^@]+@\d/);
  });

  it('is ASCII, of which a character takes one byte of memory', () => {
    expect(readFileSync(join(dist, 'main.js')).findIndex((byte) => byte > 127)).toBe(-1);
  });

  it('does not load the fetch of Node.js', async () => {
    const tell = `process.on('exit', () => console.error(process.moduleLoadList.filter((name) => /deps.undici|NativeModule http$/.test(name)).join()))`;
    const { tail } = await run(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(tell)}`,
      join(dist, 'main.js'),
      app === 'reroll' ? 'watcher' : '--help',
      '--help',
    ]);
    expect(tail.trim().split('\n').at(-1)).toBe('NativeModule http');
  });

  it('every license is permissive', () => {
    const others = components.filter(({ licenses = [] }) => !PERMISSIVE.test(licenses[0]?.expression ?? ''));
    expect(others).toEqual([]);
  });

  it('licenses.txt has a section for each of them', () => {
    const text = readFileSync(join(dist, 'licenses.txt'), 'utf8');
    const sections = [...text.matchAll(/^(\S+) (\S+)\nLicense: /gm)].map(
      ([, name, version]) => `${name} ${version}`,
    );
    expect(sections).toEqual(components.map(({ name, version }) => `${name} ${version}`));
  });
});

describe('the program of the image', () => {
  const DIST = join(APPS, 'reroll/dist');
  const MAIN = readFileSync(join(DIST, 'main.js'), 'utf8');
  /** A class that only one role has, or `all`. */
  const CLASSES = ['WatcherModule', 'WorkerModule', 'AdminModule', 'RedisChild'];

  /** All code that a role loads when it starts. */
  function codeOf(role: string): string {
    const [, own = ''] = new RegExp(`${role}:[^,]*?import\\("\\./([^"]+)"\\)`).exec(MAIN) ?? [];
    const files = new Set([own]);
    for (const file of files) {
      const text = readFileSync(join(DIST, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) files.add(name);
    }
    return [...files].map((file) => readFileSync(join(DIST, file), 'utf8')).join('\n');
  }

  it.each([
    ['watcher', ['WatcherModule']],
    ['worker', ['WorkerModule']],
    ['admin', ['AdminModule']],
    ['all', CLASSES],
  ])('loads for %s no code of another role', (role, expected) => {
    const code = codeOf(role);
    expect(CLASSES.filter((name) => code.includes(`"${name}"`))).toEqual(expected);
  });

  it.each(ROLES)('gives %s the arguments after its name', async (role) => {
    const app = role === 'all' ? 'standalone' : role;
    const [whole, alone] = await Promise.all(
      [[join(DIST, 'main.js'), role], [join(APPS, app, 'dist/main.js')]].map((main) =>
        run(process.execPath, [...main, '--log-level=never']),
      ),
    );
    expect(whole).toEqual(alone);
    expect(whole?.code).toBe(2);
    expect(whole?.tail).toContain('given "never"');
  });
});
