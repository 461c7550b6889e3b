import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, installed } from './look.ts';
import { manifestsWith, type Manifest } from './render.ts';
import { CREDENTIAL, VALUES_MATRIX } from './testing/values-matrix.ts';
import { CHART } from './values-comments.ts';

interface Option {
  readonly value: string;
  readonly sensitive: boolean;
}

function valuesOf(secret: Manifest): readonly string[] {
  const data = Object.values((at(secret, 'data') ?? {}) as Readonly<Record<string, string>>);
  const text = Object.values((at(secret, 'stringData') ?? {}) as Readonly<Record<string, string>>);
  return [...data.map((each) => Buffer.from(each, 'base64').toString()), ...text];
}

describe.concurrent.each(Object.entries(VALUES_MATRIX))('with %s', (_what, values) => {
  it('a credential is in Secrets and nowhere else, neither as it is nor as base64', async () => {
    const manifests = installed(await manifestsWith(values));
    const secrets = manifests.filter(({ kind }) => kind === 'Secret');
    const rest = JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'));
    const credentials = secrets.flatMap(valuesOf);
    const isGiven = JSON.stringify(values).includes(CREDENTIAL);
    expect(credentials.some((each) => each.includes(CREDENTIAL))).toBe(isGiven);
    for (const credential of [CREDENTIAL, ...credentials]) {
      expect(rest).not.toContain(credential);
      expect(rest).not.toContain(Buffer.from(credential).toString('base64'));
    }
  });
});

it('every value that is a credential is among them', () => {
  const { options } = JSON.parse(readFileSync(join(CHART, 'options.json'), 'utf8')) as {
    options: readonly Option[];
  };
  const sensitive = options.filter((option) => option.sensitive).map(({ value }) => value);
  expect(sensitive).toContain('redis.external.password');
  const without = sensitive.filter(
    (path) => !Object.values(VALUES_MATRIX).some((values) => String(at(values, path)).includes(CREDENTIAL)),
  );
  expect(without).toEqual([]);
});
