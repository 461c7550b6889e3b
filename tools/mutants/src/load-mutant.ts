/** Imported before a program, makes Node.js load the module of the given mutant with its change, as source or compiled. */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { givenMutant } from './given-mutant.ts';
import { compiledOf, mutated } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../../..');
const mutant = givenMutant();
const files = [mutant.file, compiledOf(mutant.file)].map((file) => pathToFileURL(join(ROOT, file)).href);

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const { source = null } = loaded;
    if (!files.includes(url) || source === null) return loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    return { ...loaded, source: mutated(text, mutant) };
  },
});
