import { assert, constantFrom, property, string } from 'fast-check';
import { expect, it } from 'vitest';

import { SOURCE_KINDS, type SourceKind } from '../model.ts';
import { envVarName, isEnvVarMark } from './env-var-name.ts';

const CASES: Readonly<Record<string, readonly [SourceKind, string, string]>> = {
  'letters are upper case': ['ConfigMap', 'foo', 'STAKATER_FOO_CONFIGMAP'],
  'digits stay': ['Secret', '99b', 'STAKATER_99B_SECRET'],
  'a run of anything else is one underscore': ['ConfigMap', 'foo.bar--x', 'STAKATER_FOO_BAR_X_CONFIGMAP'],
  'a run at the start is nothing, one at the end is one underscore': [
    'Secret',
    '-a..b-',
    'STAKATER_A_B__SECRET',
  ],
  'a name of nothing else is nothing': ['Secret', '--', 'STAKATER__SECRET'],
  'the type of a SecretProviderClass': ['SecretProviderClass', 'az', 'STAKATER_AZ_SECRETPROVIDERCLASS'],
  'a letter beyond ASCII is something else': ['ConfigMap', 'aßb', 'STAKATER_A_B_CONFIGMAP'],
  'the dotless i is an I, as in Go': ['ConfigMap', 'aı', 'STAKATER_AI_CONFIGMAP'],
};

it.each(Object.entries(CASES))('%s', (_, [kind, name, variable]) => {
  expect(envVarName(kind, name)).toBe(variable);
});

it('a.b, a-b and a--b share a variable', () => {
  expect(new Set(['a.b', 'a-b', 'a--b'].map((name) => envVarName('ConfigMap', name))).size).toBe(1);
});

it('is a name that a container accepts', () => {
  assert(
    property(constantFrom(...SOURCE_KINDS), string(), (kind, name) => {
      expect(envVarName(kind, name)).toMatch(/^STAKATER_[A-Z0-9_]*$/);
    }),
  );
});

it('a variable marks a container if a source can have it, however long the name', () => {
  const longest = envVarName('SecretProviderClass', 'a'.repeat(253));
  expect([longest, `${longest}_`, 'OTHER'].map(isEnvVarMark)).toEqual([true, false, false]);
});
