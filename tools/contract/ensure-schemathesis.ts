import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build/build.ts';
import { ensurePythonEnvironment } from '../cluster/src/build/python-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/**
 * A Python whose environment has schemathesis: `<it> -m schemathesis.cli run …`. It is installed into the cache folder
 * when needed (some seconds, 93 MB).
 * @throws ClusterError that says what is missing: Python 3.11 or later with venv, the package index.
 */
export async function ensureSchemathesis(options: BuildOptions): Promise<string> {
  return await ensurePythonEnvironment({ name: 'schemathesis', requirements: REQUIREMENTS }, options);
}
