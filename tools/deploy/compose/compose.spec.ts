import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../cluster/src/run.ts';
import { ensureCheckers } from '../ensure-checkers.ts';
import { APPS, instructions, ROOT } from '../images/dockerfile.ts';
import { at, workload } from '../look.ts';
import { manifestsWith } from '../render.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly { readonly host_ip?: string }[];
  readonly volumes?: readonly { readonly type: string; readonly source: string }[];
  readonly read_only?: boolean;
}

const FILE = join(ROOT, 'docker-compose.yml');
const folder = mkdtempSync(join(tmpdir(), 'reroll-compose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let compose: string;
let services: Readonly<Record<string, Service>>;
beforeAll(async () => {
  compose = (await ensureCheckers({ log: console.log })).compose;
  const { code, stdout, tail } = await run(compose, [FILE]);
  expect({ code, tail }).toEqual({ code: 0, tail });
  services = (JSON.parse(stdout) as { services: typeof services }).services;
});

it('docker-compose.yml is valid, and has a Redis, a Kubernetes, watchers and workers', () => {
  expect(Object.keys(services).sort()).toEqual(['k3s', 'redis', 'setup', 'watcher', 'worker']);
});

it.each([
  ['an unknown key', (text: string) => text.replace('    privileged: true\n', '    priviledged: true\n')],
  ['a volume that is not declared', (text: string) => text.replace('\n  kubeconfigs:\n', '\n')],
  ['a service that is not there', (text: string) => text.replace('service:k3s', 'service:k4s')],
])('%s in it would be found', async (_, change) => {
  const file = join(folder, 'docker-compose.yml');
  const text = readFileSync(FILE, 'utf8');
  writeFileSync(file, change(text));
  expect(change(text)).not.toBe(text);
  expect((await run(compose, [file])).code).not.toBe(0);
});

it('every image has a version, and the programs are those that the chart runs', async () => {
  const manifests = await manifestsWith();
  for (const { image } of Object.values(services))
    expect(image).toMatch(/^[a-z.]+\/[a-z0-9/-]+:v?\d+\.\d+\.\d+/);
  for (const name of [...APPS, 'redis'])
    expect(services[name]?.image).toBe(at(workload(manifests, name).container, 'image'));
});

it('watcher and worker can also be built, from stages that there are', () => {
  const stages = instructions().flatMap(({ name, text }) =>
    name === 'FROM' ? [/ AS (\S+)$/.exec(text)?.[1]] : [],
  );
  for (const app of APPS) {
    const { context = '', dockerfile = '', target } = services[app]?.build ?? {};
    expect(existsSync(join(context, dockerfile))).toBe(true);
    expect(stages).toContain(target);
  }
});

it('what waits for a healthy service waits for one that says whether it is', () => {
  for (const { depends_on } of Object.values(services))
    for (const [name, { condition }] of Object.entries(depends_on ?? {}))
      if (condition === 'service_healthy') expect(services[name]?.healthcheck?.test).toBeDefined();
  for (const app of APPS)
    expect(services[app]?.depends_on).toMatchObject({
      redis: { condition: 'service_healthy' },
      setup: { condition: 'service_completed_successfully' },
    });
});

it('Redis needs nothing else, so that it can be started alone', () => {
  expect(services['redis']?.depends_on).toBeUndefined();
});

it('no port is open to other machines, and folders that are mounted are there', () => {
  for (const { ports = [], volumes = [] } of Object.values(services)) {
    for (const { host_ip } of ports) expect(host_ip).toBe('127.0.0.1');
    for (const { type, source } of volumes) if (type === 'bind') expect(existsSync(source)).toBe(true);
  }
});
