/**
 * Prints the version that a release of this commit has. Fails, with all that disagree, unless package.json, every
 * workspace, what they depend on among each other, and the chart say the same, and the tag if one is given.
 * `--set` writes another version into all of them, and into the documents, manifests and examples that name the image.
 *
 * Usage: `node tools/release/version.ts [vX.Y.Z]` or `node tools/release/version.ts --set X.Y.Z`
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
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

const MANIFESTS = ['package.json', '{apps,libs}/*/package.json'];
/** Some of them are generated: `npm run -s docs` does the rest, as names with a hash. The CHANGELOG tells of earlier versions, too. */
const NAMING = [
  '{AGENTS,CONTRIBUTING,README,SECURITY}.md',
  '*.yml',
  'deploy/**/*.{md,txt,yaml}',
  'docs/**/*.md',
  'examples/**/*.{md,yaml}',
];
const CONSTANT = 'libs/shared/src/platform/process/version.ts';

/** Writes a version in the place of that of package.json; others, as of what a change was made for, stay. */
export function setVersion(root: string, version: string): void {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/u.test(version))
    throw new Error(`expected a version such as 1.2.3 or 1.2.3-rc.1, given ${version}`);
  const old = String(versionsIn(root).get('package.json')).replaceAll('.', String.raw`\.`);
  const end = String.raw`(?![\w-]|\.\d)`;
  const replace = (globs: readonly string[], before: string): void => {
    const pattern = new RegExp(`(${before})${old}${end}`, 'gu');
    for (const path of globSync(globs, { cwd: root })) {
      const text = readFileSync(join(root, path), 'utf8');
      const changed = text.replaceAll(pattern, `$1${version}`);
      if (changed !== text) writeFileSync(join(root, path), changed);
    }
  };
  replace(MANIFESTS, '"(?:version|@reroll/[a-z]+)": "');
  replace(
    ['package-lock.json'],
    String.raw`"name": "(?:@reroll/)?[a-z]+",\s+"version": "|"@reroll/[a-z]+": "`,
  );
  replace([CONSTANT], "VERSION = '");
  replace(NAMING, String.raw`\breroll[:-]|[vV]ersion: |\bv`);
}

function main(args: readonly string[]): void {
  const [first, second] = args;
  if (first === '--set') {
    setVersion(ROOT, second ?? '');
    console.log('now run `npm run -s docs`, and write the CHANGELOG');
    return;
  }
  const versions = versionsIn(ROOT);
  const problems = disagreements(versions, first);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(versions.get('package.json'));
}

if (import.meta.main) main(process.argv.slice(2));
