import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

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

  it('every licence is permissive', () => {
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
