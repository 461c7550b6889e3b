import { expect, it } from 'vitest';
import { explainSettings } from './explain-settings.ts';
import { parseOptions } from './parsing/parse.ts';

it.each([
  [[], { window: 'always', approval: 'none', limit: '10/10m', waves: 'none', bake: '0', rollouts: 0 }],
  [
    ['--reload-window=Mon-Fri 22:00-04:00', '--require-approval', '--max-concurrent-rollouts=7'],
    {
      window: 'Mon-Fri 22:00-04:00',
      approval: 'required',
      limit: '10/10m',
      waves: 'none',
      bake: '0',
      rollouts: 7,
    },
  ],
])('%j: the holds of %j', (flags, holds) => {
  const parsed = parseOptions('worker', flags, {});
  expect(parsed.ok && explainSettings(parsed.options).holds).toEqual(holds);
});
