import { expect, it } from 'vitest';

import { REASONS, reasonsMarkdown } from './reasons.ts';

it.each(Object.entries(REASONS))('%s is a code, documented in one sentence', (code, meaning) => {
  expect(code).toMatch(/^([A-Z][a-z]+)+$/);
  expect(meaning).toMatch(/^[A-Z][^\n]*[^.]\.$/);
});

it('the page lists every reason once', () => {
  const codes = [...reasonsMarkdown().matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(codes).toEqual(Object.keys(REASONS));
});
