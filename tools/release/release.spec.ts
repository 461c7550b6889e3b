import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../cluster/src/servers/ports.ts';
import { run } from '../cluster/src/run.ts';
import { waitUntil } from '../cluster/src/wait.ts';
import { ROOT } from '../deploy/images/dockerfile.ts';
import { ensureCheckers } from '../deploy/ensure-checkers.ts';
import { ensureHelm } from '../deploy/ensure-helm.ts';
import { imagesOf } from '../deploy/values/images-file.ts';
import { at, workload } from '../deploy/look.ts';
import { manifestsOf, manifestsWith, type ChartValues } from '../deploy/render.ts';
import { disagreements, setVersion, versionsIn } from './version.ts';

const folder = mkdtempSync(join(tmpdir(), 'reroll-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the version', () => {
  const versions = versionsIn(ROOT);
  const version = versions.get('package.json') ?? '';

  it('is the same in every package.json and in the chart', () => {
    expect(disagreements(versions, `v${versions.get('package.json')}`)).toEqual([]);
  });

  it('is refused when the tag or a package says another one', () => {
    const core = 'apps/worker/package.json @reroll/core';
    const changed = new Map([...versions, ['apps/worker/package.json', '9.9.9'], [core, '9.9.7']]);
    expect(disagreements(changed, 'v9.9.8')).toEqual([
      `apps/worker/package.json says 9.9.9; expected ${version}, as package.json says`,
      `${core} says 9.9.7; expected ${version}, as package.json says`,
      `the tag says 9.9.8; expected ${version}, as package.json says`,
    ]);
  });

  it('is set wherever it is named, but not in what tells of the past or of others', async () => {
    const { stdout } = await run('git', ['-C', ROOT, 'ls-files']);
    const files = stdout.trim().split('\n');
    const copy = join(folder, 'bumped');
    for (const file of files) cpSync(join(ROOT, file), join(copy, file), { recursive: true });
    const changelog = `- Since v${version}, there is ghcr.io/reroll/reroll:${version}.\n`;
    writeFileSync(join(copy, 'CHANGELOG.md'), changelog);
    setVersion(copy, '77.8.9');
    expect(new Set(versionsIn(copy).values())).toEqual(new Set(['77.8.9']));
    const old = new RegExp(`(?<![\\d.]|[Bb]efore )${version.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`, 'u');
    expect(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')).toBe(changelog);
    const ofOthers = /^CHANGELOG\.md$|\bpackage-lock\.json$|\/go\.(mod|sum)$/u;
    const naming = files.filter(
      (file) => !ofOthers.test(file) && old.test(readFileSync(join(copy, file), 'utf8')),
    );
    expect(naming).toEqual([]);
    const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
    const ours = JSON.parse(lock(copy)) as { packages: Record<string, { version?: string }> };
    const workspaces = Object.entries(ours.packages).filter(([path]) =>
      /^$|^(apps|libs)\/[a-z]+$/u.test(path),
    );
    expect(new Set(workspaces.map(([, { version: found }]) => found))).toEqual(new Set(['77.8.9']));
    expect(lock(copy)).not.toContain(`"@reroll/core": "${version}"`);
  });

  it('is refused if it is none', () => {
    expect(() => setVersion(folder, 'v1.2.3')).toThrow('expected a version such as 1.2.3');
  });
});

describe('the digest of Redis', () => {
  const digest = `sha256:${'1'.repeat(64)}`;
  const pin = async (deploy: string, what: string): Promise<{ code: number; tail: string }> => {
    const { code, tail } = await run('/bin/sh', [join(ROOT, 'tools/release/pin-redis.sh'), deploy, what]);
    return { code: code ?? 1, tail };
  };
  const copy = (name: string): string => {
    const deploy = join(folder, name);
    cpSync(join(ROOT, 'deploy'), deploy, { recursive: true });
    return deploy;
  };

  it('is in the chart and the plain manifest of a release; another tag takes its place', async () => {
    const deploy = copy('pinned');
    expect(await pin(deploy, digest)).toEqual({ code: 0, tail: '' });
    const chart = join(deploy, 'helm/reroll');
    const imageWith = async (values: ChartValues): Promise<unknown> =>
      at(workload(await manifestsWith(values, { chart }), 'redis').container, 'image');
    const [before] = imagesOf(await manifestsWith()).filter((image) => image.includes('/redis:'));
    expect(await imageWith({})).toBe(`${before}@${digest}`);
    expect(await imageWith({ redis: { image: { tag: '7.4' } } })).toBe('docker.io/library/redis:7.4');
    const plain = manifestsOf(readFileSync(join(deploy, 'manifests/reroll.yaml'), 'utf8'));
    expect(imagesOf(plain)).toEqual(imagesOf(await manifestsWith({}, { chart })));
  });

  it.each([
    ['no digest', ''],
    ['half of one', 'sha256:12'],
  ])('is refused if it is %s', async (_, what) => {
    const { code, tail } = await pin(copy(`refused-${what.length}`), what);
    expect({ code, tail }).toEqual({ code: 1, tail: expect.stringContaining('expected a digest') as string });
  });

  it('is not written a second time, nor where a file names another Redis', async () => {
    const deploy = copy('other');
    const manifest = join(deploy, 'manifests/reroll.yaml');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('/redis:', '/redis:0.'));
    expect((await pin(deploy, digest)).code).toBe(1);
    const twice = copy('twice');
    await pin(twice, digest);
    expect((await pin(twice, digest)).tail).toContain('expected an image without a digest');
  });
});

describe('the chart', () => {
  const repository = join(folder, 'repository');
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const found = readdirSync(repository).includes(name);
    response.writeHead(found ? 200 : 404).end(found ? readFileSync(join(repository, name)) : '');
  });
  let helm: string;
  let url: string;
  let version: string;
  /** Of Helm: nothing that this machine has is read or changed. */
  const env = {
    HELM_CACHE_HOME: join(folder, 'c'),
    HELM_CONFIG_HOME: join(folder, 'd'),
    HELM_DATA_HOME: join(folder, 'e'),
  };

  beforeAll(async () => {
    helm = await ensureHelm({ log: console.log });
    version = versionsIn(ROOT).get('package.json') ?? '';
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await must('/bin/sh', join(ROOT, 'tools/release/chart.sh'), repository, url);
  });
  afterAll(() => void server.close());

  async function must(command: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, tail } = await run(command, args, { env: { ...env, HELM: helm } });
    expect({ code, tail }).toEqual({ code: 0, tail });
    return stdout === '' ? tail : stdout;
  }

  it('comes from a repository that `helm repo add` knows, and renders as it does from here', async () => {
    await must(helm, 'repo', 'add', 'reroll', url);
    expect(await must(helm, 'search', 'repo', 'reroll', '--output=json')).toContain(`"version":"${version}"`);
    const text = await must(helm, 'template', 'reroll', 'reroll/reroll', '--namespace=reroll');
    expect(manifestsOf(text)).toEqual(await manifestsWith());
  });

  it('does not say that there is no image', async () => {
    const annotation = 'reroll.dev/image: unpublished';
    expect(await must(helm, 'show', 'chart', join(ROOT, 'deploy/helm/reroll'))).toContain(annotation);
    expect(await must(helm, 'show', 'chart', 'reroll/reroll')).not.toContain(annotation);
  });

  it('is added to the index of the releases before it, and takes nothing away', async () => {
    const later = join(folder, 'later');
    mkdirSync(later);
    const before = readFileSync(join(repository, 'index.yaml'), 'utf8').replaceAll(version, '0.0.9');
    writeFileSync(join(later, 'index.yaml'), before);
    await must('/bin/sh', join(ROOT, 'tools/release/chart.sh'), later, `${url}/later`);
    const index = readFileSync(join(later, 'index.yaml'), 'utf8');
    expect(index).toContain(`- ${url}/reroll-0.0.9.tgz`);
    expect(index).toContain(`- ${url}/later/reroll-${version}.tgz`);
  });

  it('goes to an OCI registry and comes back from it, the same bytes', async () => {
    const port = await freePort();
    const registry = await startRegistry(port);
    try {
      const charts = `oci://localhost:${port}/charts`;
      const archive = join(repository, `reroll-${version}.tgz`);
      expect(await must(helm, 'push', '--plain-http', archive, charts)).toMatch(
        /^Digest: sha256:[0-9a-f]{64}$/m,
      );
      const pulled = join(folder, 'pulled');
      mkdirSync(pulled);
      await must(
        helm,
        'pull',
        '--plain-http',
        `${charts}/reroll`,
        `--version=${version}`,
        `--destination=${pulled}`,
      );
      expect(readFileSync(join(pulled, `reroll-${version}.tgz`))).toEqual(readFileSync(archive));
    } finally {
      registry.kill();
      await once(registry, 'exit');
    }
  });
});

async function startRegistry(port: number): Promise<ChildProcess> {
  const { registry } = await ensureCheckers({ log: console.log });
  const child = spawn(registry, [`--port=${port}`], { stdio: 'ignore' });
  const answers = async (): Promise<boolean> => {
    const answer = await fetch(`http://localhost:${port}/v2/`).catch(() => undefined);
    return answer?.ok === true;
  };
  await waitUntil(answers, { what: 'the registry to answer', timeoutMs: 30_000, everyMs: 50 });
  return child;
}
