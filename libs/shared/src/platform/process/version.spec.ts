import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERSION } from './version.ts';

it('the version is that of the workspace', () => {
  const file = new URL('../../../../../package.json', import.meta.url);
  expect((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version).toBe(VERSION);
});
