import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { PAGES } from './pages.ts';

it.each(PAGES.map((page) => [page.path, page] as const))(
  '%s is what its generator writes',
  async (path, page) => {
    expect(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).toBe(await page.render());
  },
);
