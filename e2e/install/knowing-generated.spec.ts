import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { secret } from '../support/objects/builders.ts';
import { RerollCli } from '../support/admin/reroll-cli.ts';
import { chartImage } from './support/images.ts';
import { podLogs } from './support/pod-logs.ts';
import { Release, installCluster } from './support/release.ts';

/**
 * Pods that come, and containers that start again, at any moment around three writes. Whatever `stale` says of one is held against
 * what its process sees.
 */
const PODS = 24;
const WRITES_AT = [8_000, 14_000, 20_500];
const LOOKS_UNTIL = 75_000;
/** The kubelet of this node needs 15 s at most. */
const DELAY = '25s';
const SEED = 20261125;

const USES = ['env', 'subPath', 'volume', 'projected', 'init'] as const;
type Use = (typeof USES)[number];

interface Plan {
  readonly name: string;
  readonly use: Use;
  readonly createdAt: number;
  /** Milliseconds until the process ends and is started again; 0: it stays. */
  readonly endsAfter: number;
}

interface Consumer {
  readonly pod: string;
  readonly container: string;
  readonly state: 'current' | 'stale' | 'unknown';
}

let release: Release;
let cli: RerollCli;

beforeAll(async () => {
  release = await Release.prepare('generated');
  cli = new RerollCli(installCluster(), ['-n', release.space.name]);
  await release.space.apply(secret('db', { value: '0' }));
  await pause(2_000);
});

function plans(): readonly Plan[] {
  let state = SEED;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: PODS }, (_, index) => ({
    name: `pod-${index}`,
    use: USES[index % USES.length] ?? 'env',
    createdAt: random(24_000),
    endsAfter: random(3) === 0 ? 3_000 + random(9_000) : 0,
  }));
}

function program({ use, endsAfter }: Plan): string {
  const value =
    use === 'env' ? 'process.env.VALUE' : `require('node:fs').readFileSync('/data/value', 'utf8')`;
  const once = `console.log('value ' + ${value});`;
  if (use === 'init') return once;
  const end = endsAfter === 0 ? '' : `setTimeout(() => process.exit(1), ${endsAfter});`;
  return `console.log('began'); setInterval(() => { ${once} }, 250); ${end} process.on('SIGTERM', () => process.exit());`;
}

function podOf(plan: Plan): object {
  const { name, use } = plan;
  const mount = use === 'subPath' ? { mountPath: '/data/value', subPath: 'value' } : { mountPath: '/data' };
  const reader = {
    name: 'reader',
    image: chartImage('reroll'),
    command: ['node', '-e', program(plan)],
    ...(use === 'env'
      ? { env: [{ name: 'VALUE', valueFrom: { secretKeyRef: { name: 'db', key: 'value' } } }] }
      : { volumeMounts: [{ name: 'db', ...mount }] }),
  };
  const other = { name: 'other', image: 'docker.io/local/pause:1' };
  const containers =
    use === 'init' ? { initContainers: [reader], containers: [other] } : { containers: [reader] };
  const db =
    use === 'projected'
      ? { projected: { sources: [{ secret: { name: 'db' } }] } }
      : { secret: { secretName: 'db' } };
  return {
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, volumes: [{ name: 'db', ...db }], ...containers },
  };
}

/** By pod: which run of its reader it is, and what that saw last. A run that has not written yet is left out. */
async function truth(): Promise<ReadonlyMap<string, string>> {
  const logs = podLogs(installCluster(), release.space.name);
  const found = new Map<string, string>();
  for (const { metadata, status = {} } of await release.space.list('Pod')) {
    const statuses = ['containerStatuses', 'initContainerStatuses'].flatMap(
      (key) => (status[key] ?? []) as { name: string; restartCount: number; containerID?: string }[],
    );
    const reader = statuses.find(({ name }) => name === 'reader');
    const lines = (logs.get(`${metadata.name}/reader`) ?? '').trimEnd().split('\n');
    const runs = lines.filter((line) => line === 'began').length || 1;
    const last = lines.at(-1);
    if (reader?.restartCount !== runs - 1 || !last?.startsWith('value ')) continue;
    found.set(metadata.name, `${reader.containerID} ${last}`);
  }
  return found;
}

it('no verdict is wrong over generated pods', async () => {
  const began = performance.now();
  const since = (): number => performance.now() - began;
  const until = (time: number): Promise<void> => pause(Math.max(0, time - since()));
  /** What is written; undefined during a write. */
  let data: number | undefined = 0;
  const making = plans().map(async (plan) => {
    await until(plan.createdAt);
    await release.space.client.post(`/api/v1/namespaces/${release.space.name}/pods`, podOf(plan));
  });
  const writing = WRITES_AT.map(async (time, index) => {
    await until(time);
    data = undefined;
    await release.space.setData('Secret/db', { value: String(index + 1) });
    data = index + 1;
  });
  const held = { current: 0, stale: 0, unknown: 0 };
  while (since() < LOOKS_UNTIL) {
    const dataBefore: number | undefined = data;
    const before = await truth();
    const { items } = await cli.json<{ items: Consumer[] }>(
      'stale',
      '--source',
      'secret/db',
      '--all',
      '--kubelet-delay',
      DELAY,
    );
    const after = await truth();
    if (data === undefined || data !== dataBefore) continue;
    for (const { pod, state } of items) {
      const seen = after.get(pod);
      // Nothing is held against a container that started again meanwhile, or a file that was refreshed.
      if (seen === undefined || seen !== before.get(pod)) continue;
      held[state] += 1;
      const isPresent = seen.endsWith(` value ${data}`);
      if (state !== 'unknown')
        expect({ pod, seen, data, isPresent }).toEqual({ pod, seen, data, isPresent: state === 'current' });
    }
    await pause(500);
  }
  await Promise.all([...making, ...writing]);
  expect(Math.min(held.current, held.stale)).toBeGreaterThan(50);
});
