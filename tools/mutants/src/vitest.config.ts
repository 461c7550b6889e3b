import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import suites from '../../../vitest.config.ts';
import { givenMutant } from './given-mutant.ts';
import { mutated } from './mutant.ts';

const mutant = givenMutant();
const file = join(import.meta.dirname, '../../..', mutant.file);

/** The suites, with the change of the given mutant. */
export default defineConfig({
  ...suites,
  // A module that was kept may be that of another mutant.
  test: { ...suites.test, fsModuleCache: false },
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform: (code, id) => (id === file ? { code: mutated(code, mutant), map: null } : undefined),
    },
  ],
});
