import { describe, expect, it } from 'vitest';
import type { KubeClient, RequestOptions } from '../client/connection.ts';
import { abortedError, badResponse } from '../client/errors.ts';
import { ConvergenceReading, type ReadingLimits } from './convergence-reading.ts';

/** How sources and pods are asked for, and what is said of them, is `apps/cli/src/commands/stale.spec.ts`; here are the limits. */
const LIMITS: ReadingLimits = { pageSize: 2, bytes: 1_000, pods: 4, uses: 100, time: 60_000 };
const isDb = ({ name }: { name: string }): boolean => name === 'db';
const DB = { envFrom: [{ secretRef: { name: 'db' } }] };

function pod(index: number, more: { containers?: number; metadata?: object; status?: object } = {}): object {
  const containers = Array.from({ length: more.containers ?? 1 }, (_, each) => ({ name: `c${each}`, ...DB }));
  const name = `p${index}`;
  const metadata = { name, namespace: 'shop', uid: name, resourceVersion: '9', ...more.metadata };
  return { metadata, spec: { containers }, status: more.status };
}

type Page = Error | readonly object[] | ((signal: AbortSignal) => Promise<never>);

/** An API server with these pages of pods. */
function server(pages: readonly Page[]) {
  const asked: RequestOptions[] = [];
  const client: Pick<KubeClient, 'get'> = {
    get: async <T>(_path: string, options?: RequestOptions) => {
      const page = pages[asked.length] ?? new Error('expected no further page');
      asked.push(options ?? {});
      if (page instanceof Error) throw page;
      if (typeof page === 'function') return await page(options?.signal ?? new AbortController().signal);
      const next = asked.length < pages.length ? { continue: 'next' } : {};
      const body = { metadata: { resourceVersion: '9', ...next }, items: page } as T;
      return { status: 200, body, date: undefined };
    },
  };
  const reading = (limits?: ReadingLimits, signal = new AbortController().signal): ConvergenceReading =>
    new ConvergenceReading({ client, now: Date.now, signal, delay: 210, limits });
  return { asked, reading };
}

const namesOf = (using: readonly { pod: { metadata: { name: string } } }[]): string[] =>
  using.map((each) => each.pod.metadata.name);

describe('reading pods', () => {
  const pages = [
    [pod(1), pod(2)],
    [pod(3), pod(4)],
    [pod(5), pod(6)],
  ];

  it('reads all of them without limits, in pages of 500', async () => {
    const { reading, asked } = server(pages);
    const { using, isComplete } = await reading().pods('shop', isDb);
    expect([namesOf(using).length, isComplete]).toEqual([6, true]);
    expect(asked.map(({ query }) => query?.['limit'])).toEqual([500, 500, 500]);
  });

  it('asks for no page beyond the most pods, and says that there are more', async () => {
    const { reading, asked } = server(pages);
    const { using, isComplete } = await reading(LIMITS).pods('shop', isDb);
    expect([namesOf(using), isComplete]).toEqual([['p1', 'p2', 'p3', 'p4'], false]);
    expect(asked.map(({ query, maxBytes }) => [query?.['limit'], maxBytes])).toEqual([
      [2, 1_000],
      [2, 1_000],
    ]);
  });

  it('is complete if the last pod is the last that it may read', async () => {
    const { using, isComplete } = await server(pages.slice(0, 2)).reading(LIMITS).pods('shop', isDb);
    expect([using.length, isComplete]).toEqual([4, true]);
  });

  it('keeps no pod beyond the most uses, also within a page', async () => {
    const { reading } = server([[pod(1, { containers: 3 }), pod(2, { containers: 3 }), pod(3)]]);
    const { using, isComplete } = await reading({ ...LIMITS, uses: 4 }).pods('shop', isDb);
    expect([namesOf(using), isComplete]).toEqual([['p1', 'p2'], false]);
  });

  it.each([
    ['a page is too large', badResponse('GET pods', 'TooLarge')],
    ['the time is over', waiting],
  ])('has what came before if %s', async (_, page) => {
    const { reading } = server([[pod(1), pod(2)], page]);
    const { using, isComplete } = await reading({ ...LIMITS, time: 100 }).pods('shop', isDb);
    expect([namesOf(using), isComplete]).toEqual([['p1', 'p2'], false]);
  });

  it('fails if its caller is gone, or the API server answers an error', async () => {
    const gone = new AbortController();
    setTimeout(() => gone.abort(), 10);
    const silent = server([waiting]).reading(LIMITS, gone.signal);
    await expect(silent.pods('shop', isDb)).rejects.toMatchObject({ code: 'KUBE_ABORTED' });
    const broken = server([badResponse('GET pods', 'NotJson')]).reading(LIMITS);
    await expect(broken.pods('shop', isDb)).rejects.toMatchObject({ reason: 'NotJson' });
  });

  it('keeps of a pod what a verdict needs, and not what may be large', async () => {
    const large = 'x'.repeat(10_000);
    const time = '2026-11-26T00:00:00Z';
    const managedFields = [
      { manager: large, time, fieldsV1: { 'f:status': { [large]: {} } } },
      { manager: large, time: '2026-11-26T01:00:00Z', fieldsV1: { 'f:metadata': {} } },
    ];
    const metadata = { annotations: { large }, labels: { large }, managedFields };
    const status = {
      phase: 'Running',
      message: large,
      conditions: [
        { type: 'Ready', status: 'True', message: large },
        { type: large, status: 'True' },
      ],
      containerStatuses: [
        { name: 'c0', image: large, state: { waiting: { message: large } }, lastState: { message: large } },
        { name: large },
      ],
    };
    const { reading } = server([[pod(1, { metadata, status })]]);
    const { using } = await reading(LIMITS).pods('shop', isDb);
    expect(JSON.stringify(using).length).toBeLessThan(1_000);
    expect(using[0]?.pod.metadata.managedFields).toEqual([{ time }]);
    expect(using[0]?.pod.status).toMatchObject({
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'c0' }],
    });
  });
});

function waiting(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(abortedError('GET pods')), { once: true }),
  );
}
