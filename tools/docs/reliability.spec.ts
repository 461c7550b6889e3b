import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { complaintAboutSpec, rowsOf } from './compatibility.ts';

const ROOT = join(import.meta.dirname, '../..');
const SPECS = rowsOf(readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8')).flatMap(({ specs }) => specs);

it.each(SPECS)('docs/reliability.md names a test that is there: %s', (spec) => {
  expect(complaintAboutSpec(spec)).toBeUndefined();
});

it('docs/reliability.md names every spec of the fault suite', () => {
  const files = readdirSync(join(ROOT, 'e2e/faults')).filter((file) => file.endsWith('.spec.ts'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(SPECS.join('\n')).toContain(`\`e2e/faults/${file}\``);
});
