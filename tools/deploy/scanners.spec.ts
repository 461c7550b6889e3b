import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../cluster/src/run.ts';
import { ensureScanners, type Scanners } from './ensure-scanners.ts';
import { titleOf } from './look.ts';
import { renderChart } from './render.ts';
import { ACCEPTED, type Scanner } from './scanners/accepted.ts';

let folder: string;
let file: string;
let scanners: Scanners;

beforeAll(async () => {
  scanners = await ensureScanners({ log: console.log });
  const chart = await renderChart();
  if (!chart.ok) throw new Error(chart.error);
  folder = mkdtempSync(join(tmpdir(), 'reroll-scanners-'));
  file = join(folder, 'reroll.yaml');
  writeFileSync(file, chart.text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface CheckovReport {
  readonly results: {
    readonly failed_checks: readonly { readonly check_id: string; readonly resource: string }[];
  };
  readonly summary: { readonly passed: number; readonly parsing_errors: number };
}

/** `<rule> <kind> <name>` of each finding. */
async function byCheckov(path: string): Promise<readonly string[]> {
  const how = ['--framework', 'kubernetes', '--output', 'json', '--compact', '--quiet', '--skip-download'];
  const { stdout } = await run(scanners.checkov, ['-m', 'checkov.main', '--file', path, ...how]);
  const { results, summary } = JSON.parse(stdout) as CheckovReport;
  expect(summary).toMatchObject({ parsing_errors: 0, passed: expect.any(Number) as number });
  return results.failed_checks.map(({ check_id: rule, resource }) => {
    const [kind = '', , name = ''] = resource.split('.');
    return `${rule} ${titleOf(kind, name)}`;
  });
}

interface KubeScoreObject {
  readonly type_meta: { readonly kind: string };
  readonly object_meta: { readonly name: string };
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

/** The grade of a check that found nothing. */
const ALL_OK = 10;

async function byKubeScore(path: string): Promise<readonly string[]> {
  const { stdout } = await run(scanners.kubeScore, ['score', '--output-format', 'json', path]);
  const objects = JSON.parse(stdout) as readonly KubeScoreObject[];
  return objects.flatMap(({ type_meta: { kind }, object_meta: { name }, checks }) =>
    checks
      .filter(({ grade, skipped }) => grade < ALL_OK && !skipped)
      .map(({ check }) => `${check.id} ${titleOf(kind, name)}`),
  );
}

const SCAN: Readonly<Record<Scanner, (path: string) => Promise<readonly string[]>>> = {
  checkov: byCheckov,
  'kube-score': byKubeScore,
};

/** What each rule is to find: nothing that is not accepted, and all that is. */
function acceptedBy(scanner: Scanner): string[] {
  const rules = ACCEPTED.filter((each) => each.scanner === scanner);
  return rules.flatMap(({ rule, on }) => on.map((object) => `${rule} ${object}`)).sort();
}

const SCANNERS = Object.keys(SCAN) as Scanner[];

it.each(SCANNERS)('%s finds in the chart what is accepted, and nothing else', async (scanner) => {
  expect([...new Set(await SCAN[scanner](file))].sort()).toEqual(acceptedBy(scanner));
});

it('every accepted finding has a reason, and is accepted once', () => {
  for (const { because } of ACCEPTED) expect(because).toMatch(/^[A-Z].{20,}\.$/u);
  const names = ACCEPTED.map(({ scanner, rule, because }) => `${scanner} ${rule} ${because}`);
  expect(new Set(names).size).toBe(names.length);
});
