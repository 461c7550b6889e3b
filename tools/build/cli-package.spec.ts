import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { parse } from 'yaml';

const DIST = join(import.meta.dirname, '../../apps/cli/dist');

describe('the package of the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-cli-package-'));
  const bin = join(folder, 'node_modules/.bin');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let packed: { filename: string; size: number; files: { path: string }[] };

  function run(program: string, ...words: readonly string[]): string {
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: folder, npm_config_update_notifier: 'false' };
    return execFileSync(program, words, {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  beforeAll(() => {
    [packed] = JSON.parse(run('npm', 'pack', DIST, '--json', '--pack-destination', folder)) as [
      typeof packed,
    ];
    run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${packed.filename}`);
  });

  it('holds the bundle, its README and the licenses, and no more', () => {
    expect(packed.files.map(({ path }) => path).sort()).toEqual([
      'LICENSE',
      'README.md',
      'licenses.txt',
      'main.js',
      'package.json',
      'sbom.cdx.json',
      'start.js',
    ]);
  });

  it('runs by npx from the tarball, with nothing to fetch', () => {
    expect(
      run('npx', '--offline', '--yes', `--package=./${packed.filename}`, 'reroll', 'version', '--client'),
    ).toBe(`Client: ${VERSION}\n`);
  });

  it('installs both names, and each calls itself so', () => {
    expect(run('reroll', '--help')).toContain('Usage: reroll <command>');
    expect(run('kubectl-reroll', '--help')).toContain('Usage: kubectl reroll <command>');
  });

  it.each([
    ['20.20.2', 1, 'error: kubectl reroll needs Node.js 22.19 or later; this is v20.20.2\n'],
    ['22.18.9', 1, 'error: kubectl reroll needs Node.js 22.19 or later; this is v22.18.9\n'],
    ['22.19.0', 0, ''],
    ['23.1.0', 0, ''],
  ])('tells in one line that Node.js %s is too old, or runs', (version, status, stderr) => {
    const pretend = `Object.defineProperties(process, { version: { value: 'v${version}' }, versions: { value: { ...process.versions, node: '${version}' } } })`;
    const ran = spawnSync(join(bin, 'kubectl-reroll'), ['--help'], {
      env: {
        PATH: process.env['PATH'],
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
      },
      encoding: 'utf8',
    });
    expect([ran.status, ran.stderr]).toEqual([status, stderr]);
  });

  it('installs what kubectl runs to complete the plugin, which answers as cobra does', () => {
    expect(run('kubectl_complete-reroll', 'pau')).toBe('pause\n:4\n');
    expect(run('kubectl_complete-reroll', 'why', 'dep')).toBe('deploy/\n:6\n');
  });
});

describe('the manifest for krew', () => {
  const text = readFileSync(join(import.meta.dirname, '../../.krew.yaml'), 'utf8');
  const manifest = parse(
    text.replaceAll(/\{\{addURIAndSha.*\}\}$/gmu, 'uri: x').replaceAll(/\{\{.*?\}\}/gu, 'v1'),
  ) as {
    spec: { platforms: readonly { bin: string; files: readonly { from: string }[] }[] };
  };

  it('starts a file of the package', () => {
    const [platform] = manifest.spec.platforms;
    expect(platform?.files).toEqual([{ from: 'package/*', to: '.' }]);
    expect(existsSync(join(DIST, platform?.bin ?? ''))).toBe(true);
    expect(text).toContain('reroll-cli-');
  });
});
