/**
 * Prints the version that a release of this commit has. Fails, with all that disagree, unless package.json, every
 * workspace, what they depend on among each other, and the chart say the same, and the tag if one is given.
 *
 * Usage: `node tools/release/version.ts [vX.Y.Z]`
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Who says which version: files by their path, a field or a package of ours that it depends on after a space. */
export function versionsIn(root: string): ReadonlyMap<string, string> {
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  const packages = ['package.json', ...globSync('{apps,libs}/*/package.json', { cwd: root }).sort()];
  const found = packages.flatMap((path) => {
    const { version, dependencies = {} } = JSON.parse(text(path)) as Manifest;
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@reroll/'));
    return [[path, version] as const, ...ours.map(([name, range]) => [`${path} ${name}`, range] as const)];
  });
  const path = 'deploy/helm/reroll/Chart.yaml';
  const chart = parse(text(path)) as { version: string; appVersion: string };
  return new Map([...found, [`${path} version`, chart.version], [`${path} appVersion`, chart.appVersion]]);
}

/** What is not the version of package.json, one sentence each. */
export function disagreements(versions: ReadonlyMap<string, string>, tag: string | undefined): string[] {
  const version = versions.get('package.json');
  const all = tag === undefined ? [...versions] : [...versions, ['the tag', tag.replace(/^v/, '')] as const];
  return all.flatMap(([who, says]) =>
    says === version ? [] : [`${who} says ${says}; expected ${version}, as package.json says`],
  );
}

function main(tag: string | undefined): void {
  const versions = versionsIn(ROOT);
  const problems = disagreements(versions, tag);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(versions.get('package.json'));
}

if (import.meta.main) main(process.argv[2]);
