import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../cluster/src/run.ts';
import { APPS, ROOT } from '../deploy/images/dockerfile.ts';
import { ensureCheckers } from '../deploy/ensure-checkers.ts';

const FOLDER = join(ROOT, '.github/workflows');
const FILES = readdirSync(FOLDER);

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly uses?: string; readonly run?: string }[] }>
  >;
}

function workflow(file: string): { readonly text: string; readonly parsed: Workflow } {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return { text, parsed: parse(text) as Workflow };
}

it('there is a workflow for every push and one for releases', () => {
  expect(FILES.sort()).toEqual(['ci.yml', 'release.yml']);
});

it('actionlint finds nothing in them', async () => {
  const { actionlint } = await ensureCheckers({ log: console.log });
  const { code, tail } = await run(actionlint, ['-no-color', ...FILES.map((file) => join(FOLDER, file))]);
  expect({ code, tail }).toEqual({ code: 0, tail: '' });
});

it.each(FILES)('%s runs actions of others at a commit only, and says of which version', (file) => {
  const uses = workflow(file).text.matchAll(/uses: (.*)$/gm);
  for (const [, action] of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each(FILES)('%s may do nothing that a job does not ask for', (file) => {
  const { permissions } = workflow(file).parsed;
  expect(permissions).toBeDefined();
  expect(Object.values(permissions ?? {}).filter((each) => each === 'write')).toEqual([]);
});

it('what runs for a pull request is what runs everywhere: .ci/run', () => {
  const { steps = [] } = workflow('ci.yml').parsed.jobs['test'] ?? {};
  expect(steps.at(-1)?.run).toBe('.ci/run');
});

it('a release has every app that has an image', () => {
  const { text } = workflow('release.yml');
  expect(text).toContain(`app: [${APPS.join(', ')}]`);
  expect(text.match(/for app in [^;]*/g)).toEqual([
    `for app in ${APPS.join(' ')}`,
    `for app in ${APPS.join(' ')}`,
  ]);
});
