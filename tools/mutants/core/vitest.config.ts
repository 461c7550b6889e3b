import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import suites from '../../../vitest.config.ts';

/** The specs of core alone: Stryker cannot choose one of several projects. */
export default defineConfig({
  ...suites,
  root: join(import.meta.dirname, '../../..'),
  test: { include: ['libs/core/src/**/*.spec.ts'], testTimeout: 60_000, isolate: false },
});
