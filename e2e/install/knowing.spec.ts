import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { auto, secret } from '../support/objects/builders.ts';
import { RerollCli } from '../support/admin/reroll-cli.ts';
import type { Manifest } from '../support/kube.ts';
import { eventually } from '../support/wait.ts';
import { chartImage } from '../../tools/deploy/images/chart-image.ts';
import { Release, SMALL, installCluster } from './support/release.ts';

/**
 * What `stale` and `wait` say, held against what the processes in real containers see: each writes its variable and its files again
 * and again. The kubelet of this node looks at a pod every 10 to 15 s, and the specs say so.
 */
const DELAY = ['--kubelet-delay', '30s'];

interface Consumer {
  readonly pod: string;
  readonly container: string;
  readonly use: 'env' | 'volume' | 'subPath';
  readonly state: 'current' | 'stale' | 'unknown';
}

/** By use, what a process sees. */
type Seen = Readonly<Record<Consumer['use'], string>>;

const PROGRAM = `
  const read = (file) => require('node:fs').readFileSync(file, 'utf8');
  setInterval(() => {
    const seen = { env: process.env.VALUE, volume: read('/all/value'), subPath: read('/one/value') };
    console.log(JSON.stringify(seen));
  }, 250);
  process.on('SIGTERM', () => process.exit());`;

let release: Release;
let cli: RerollCli;

beforeAll(async () => {
  release = await Release.install('knowing', { ...SMALL, mode: 'standalone' });
  await release.ready('standalone', 1);
  cli = new RerollCli(installCluster(), ['-n', release.space.name]);
  await release.space.apply(secret('db', { value: '1' }));
});

/** Uses the Secret in each way, in one container. */
function reader(name: string, ...modifiers: readonly ReturnType<typeof auto>[]): Manifest {
  const labels = { app: name };
  const container = {
    name: 'app',
    image: chartImage('reroll'),
    command: ['node', '-e', PROGRAM],
    env: [{ name: 'VALUE', valueFrom: { secretKeyRef: { name: 'db', key: 'value' } } }],
    volumeMounts: [
      { name: 'db', mountPath: '/all' },
      { name: 'db', mountPath: '/one/value', subPath: 'value' },
    ],
  };
  const draft = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels, annotations: {} },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [container],
          volumes: [{ name: 'db', secret: { secretName: 'db' } }],
        },
      },
    },
  };
  for (const modify of modifiers) modify(draft);
  return draft;
}

async function rolledOut(...names: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      for (const name of names) {
        const { status = {}, metadata } = await release.space.get(`Deployment/${name}`);
        expect(status).toMatchObject({
          observedGeneration: metadata.generation,
          replicas: 2,
          updatedReplicas: 2,
          availableReplicas: 2,
        });
      }
      return (await pods()).length === 2 * names.length;
    },
    { within: 120_000 },
  );
}

interface PodObject {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly containerStatuses?: readonly { readonly state?: { readonly terminated?: object } }[];
  };
}

/** Of the readers, those that are deleted too while their processes run: what one that has ended saw last stays in its log. */
async function pods(): Promise<readonly string[]> {
  const all = (await release.space.list('Pod')) as unknown as readonly PodObject[];
  const running = all.filter(
    ({ status }) => status?.containerStatuses?.every(({ state }) => state?.terminated === undefined) ?? true,
  );
  return running.map(({ metadata }) => metadata.name).filter((name) => /^(?:managed|plain)-/.test(name));
}

/** What the process of a pod saw last. */
function seenBy(pod: string): Seen | undefined {
  const line = release.logs(pod).trimEnd().split('\n').at(-1) ?? '';
  return line.startsWith('{') ? (JSON.parse(line) as Seen) : undefined;
}

async function consumers(...flags: readonly string[]): Promise<readonly Consumer[]> {
  const words = ['stale', '--source', 'secret/db', '--all', ...flags];
  return (await cli.json<{ items: readonly Consumer[] }>(...words)).items;
}

/** Looks, then holds each `current` and `stale` against what the process sees. */
async function verdicts(data: string): Promise<readonly Consumer[]> {
  const found = await consumers(...DELAY);
  const names = await pods();
  for (const { pod, use, state } of found.filter((each) => names.includes(each.pod))) {
    const seen = seenBy(pod);
    if (seen === undefined || state === 'unknown') continue;
    expect([pod, use, seen[use] === data], JSON.stringify(found)).toEqual([pod, use, state === 'current']);
  }
  return found;
}

function statesOf(found: readonly Consumer[], of: string): Readonly<Record<string, readonly string[]>> {
  const states: Record<string, string[]> = { env: [], volume: [], subPath: [] };
  for (const { pod, use, state } of found) if (pod.startsWith(of)) states[use]?.push(state);
  return states;
}

describe('on a real node', () => {
  it('nothing is stale where pods started with the current data', async () => {
    await pause(2_000);
    await release.space.apply(reader('managed', auto()), reader('plain'));
    await rolledOut('managed', 'plain');
    const all = ['current', 'current'];
    const found = await verdicts('1');
    expect(statesOf(found, 'managed')).toEqual({ env: all, volume: all, subPath: all });
    expect(statesOf(found, 'plain')).toEqual({ env: all, volume: all, subPath: all });
    // Not of Reroll's own Secrets, which were made after its pod was created.
    expect(await cli.run('stale', '--source', 'secret/db')).toEqual({
      code: 0,
      out: '',
      err: `No containers with older data in the namespace ${release.space.name} found.\n`,
    });
  });

  it('variables and subPaths become stale with a change, files do not, and wait waits for the rollouts', async () => {
    await release.space.setData('Secret/db', { value: '2' });
    const wait = cli.start('wait', 'secret/db', '--converged', '--timeout', '4m', ...DELAY);
    expect(statesOf(await verdicts('2'), 'plain')).toEqual({
      env: ['stale', 'stale'],
      volume: ['unknown', 'unknown'],
      subPath: ['stale', 'stale'],
    });
    const current = ['current', 'current'];
    await eventually(
      async () => {
        const found = await verdicts('2');
        expect(statesOf(found, 'managed')).toEqual({ env: current, volume: current, subPath: current });
        expect(statesOf(found, 'plain')).toEqual({
          env: ['stale', 'stale'],
          volume: current,
          subPath: ['stale', 'stale'],
        });
        return true;
      },
      { within: 120_000 },
    );
    expect(wait.isRunning, wait.logs()).toBe(true);

    const restart = { spec: { template: { metadata: { annotations: { restarted: 'by-the-spec' } } } } };
    await release.space.patch('Deployment/plain', restart);
    expect(await wait.exited, wait.logs()).toBe(0);
    for (const pod of await pods()) {
      // One that has not started yet has written nothing.
      const seen = await eventually(() => seenBy(pod), { what: `${pod} to write` });
      expect([pod, seen]).toEqual([pod, { env: '2', volume: '2', subPath: '2' }]);
    }
    expect(wait.logs()).toMatch(/^secret\/db converged \(uses: \d+, in pods: \d+; of files, .*: \d+\)$/m);
    await rolledOut('managed', 'plain');
  });

  it('wait ends with 1 and the list if it is not so in time', async () => {
    await release.space.setData('Secret/db', { value: '3' });
    const { code, out, err } = await cli.run('wait', 'secret/db', '--converged', '--timeout', '5s', ...DELAY);
    expect([code, out]).toEqual([1, expect.stringMatching(/plain-\S+ +app +secret\/db +env +stale/)]);
    expect(err).toMatch(/^Not converged within 5s: \d+ stale, \d+ unknown\.$/m);
  });
});
