import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LeaderElector, type Leadership, type LeaseOptions, type LostReason } from './lease.ts';
import { LEASES, type Lease } from './lease-record.ts';
import { objectPath } from '../objects.ts';
import { ControlPlane } from '../testing/control-plane.ts';
import { SHORT_TIMES } from '../testing/short-times.ts';
import { Waiting } from '../testing/waiting.ts';

const ADOPTED_AT = 'reroll.dev/adopted-at';

let plane: ControlPlane;
const electors: LeaderElector[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  plane = await ControlPlane.start();
});
afterAll(async () => {
  await plane.stop();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(electors.splice(0).map((elector) => elector.stop()));
});

/** What a candidate was told, and a way to wait for it. */
class Story {
  readonly acquired: Leadership[] = [];
  readonly lost: LostReason[] = [];
  readonly waiting = new Waiting();

  async leads(): Promise<Leadership> {
    await this.waiting.until(
      () => this.acquired.length > 0,
      () => 'to lead',
    );
    return this.acquired[0] ?? expect.fail('does not lead');
  }
}

function candidate(
  place: Pick<LeaseOptions, 'namespace' | 'name'>,
  options: Partial<LeaseOptions> = {},
): { elector: LeaderElector; story: Story } {
  const story = new Story();
  const elector = new LeaderElector({
    client: plane.client,
    identity: 'candidate',
    adoptedAtAnnotation: ADOPTED_AT,
    ...place,
    ...options,
    callbacks: {
      onAcquired: (leadership) => {
        story.acquired.push(leadership);
        story.waiting.look();
      },
      onLost: (reason) => {
        story.lost.push(reason);
        story.waiting.look();
      },
    },
  });
  electors.push(elector);
  elector.start();
  return { elector, story };
}

async function place(): Promise<{ namespace: string; name: string }> {
  return { namespace: await plane.namespace(), name: 'reroll-watcher' };
}

async function leaseAt(at: { namespace: string; name: string }): Promise<Lease> {
  return (await plane.client.get<Lease>(objectPath(LEASES, at))).body;
}

describe('two candidates and a real API server', () => {
  test('one leads; released, the other takes over within 3 s with the default times', async () => {
    const at = await place();
    const first = candidate(at);
    const { term, adoptedAt } = await first.story.leads();
    const second = candidate(at);
    await expect.poll(() => second.elector.holder, { timeout: 5000 }).toBe(first.elector.identity);
    expect(second.elector.isLeader()).toBe(false);
    await first.elector.stop();
    const released = await leaseAt(at);
    expect(released.spec?.holderIdentity ?? '').toBe('');
    expect(released.spec?.leaseDurationSeconds).toBe(1);
    const began = performance.now();
    const next = await second.story.leads();
    expect(performance.now() - began).toBeLessThan(3000);
    expect(BigInt(next.term)).toBeGreaterThan(BigInt(term));
    expect(next.adoptedAt).toBe(adoptedAt);
    expect(first.story.lost).toEqual([]);
  });

  test('the first leader ever writes the API server’s time, and its term is the resourceVersion of that write', async () => {
    const at = await place();
    const { story } = candidate(at, SHORT_TIMES);
    const { term, adoptedAt } = await story.leads();
    expect(adoptedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Math.abs(Date.parse(adoptedAt) - Date.now())).toBeLessThan(5000);
    const lease = await leaseAt(at);
    expect(lease.metadata.annotations?.[ADOPTED_AT]).toBe(adoptedAt);
    expect(BigInt(lease.metadata.resourceVersion ?? 0)).toBeGreaterThanOrEqual(BigInt(term));
  });

  test('a term after somebody deleted the Lease is greater than the one before', async () => {
    const at = await place();
    const first = candidate(at, SHORT_TIMES);
    const { term } = await first.story.leads();
    await first.elector.stop();
    await plane.client.request({ method: 'DELETE', path: objectPath(LEASES, at) });
    const second = candidate(at, SHORT_TIMES);
    expect(BigInt((await second.story.leads()).term)).toBeGreaterThan(BigInt(term));
  });

  test('a leader that is cut off says so once, before the other leads', async () => {
    const at = await place();
    const { client, proxy } = await plane.throughProxy();
    const first = candidate(at, { ...SHORT_TIMES, client });
    await first.story.leads();
    const second = candidate(at, SHORT_TIMES);
    proxy.refuse();
    const order: string[] = [];
    await Promise.all([
      first.story.waiting
        .until(
          () => first.story.lost.length > 0,
          () => 'to lose',
        )
        .then(() => order.push('lost')),
      second.story.leads().then(() => order.push('acquired')),
    ]);
    expect(order).toEqual(['lost', 'acquired']);
    proxy.accept();
    expect(first.story.lost).toEqual(['RenewDeadlineExceeded']);
    expect(first.elector.isLeader()).toBe(false);
  });
});

describe('a leader that is frozen', () => {
  test('knows when it thaws that it leads no more, and says so once', async () => {
    const at = await place();
    const script = fileURLToPath(new URL('../testing/lease-candidate.ts', import.meta.url));
    const child = spawn(
      process.execPath,
      ['--conditions=@reroll/source', script, plane.cluster.kubeconfig, at.namespace, at.name],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    children.push(child);
    const lines: string[] = [];
    const waiting = new Waiting();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.trim().split('\n'));
      waiting.look();
    });
    await waiting.until(
      () => lines.includes('leads true'),
      () => 'the child to lead',
    );
    child.kill('SIGSTOP');
    const second = candidate(at, SHORT_TIMES);
    await second.story.leads();
    child.kill('SIGCONT');
    await waiting.until(
      () => lines.includes('leads false'),
      () => 'the child to know',
    );
    await expect.poll(() => lines.length).toBe(4);
    expect(lines.filter((line) => line === 'acquired')).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('lost'))).toEqual(['lost RenewDeadlineExceeded']);
    expect(second.elector.isLeader()).toBe(true);
  });
});
