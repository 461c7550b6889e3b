import type { ObservedSource } from '@reroll/core/state/rows';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SourceKey } from '@reroll/core/model';
import type { Listed } from '@reroll/core/state/listed';
import { seenSource, sourceRow } from '@reroll/core/testing/rows';
import { describe, expect, test } from 'vitest';
import { SourceHandler, SourcePresence } from './source-handler.ts';

type Context = ConstructorParameters<typeof SourceHandler>[2];

/** Handles a deletion of `cm` at 7. Returns what the cluster state is told. */
async function toldOfDeletion({ uid, presence }: { uid?: string; presence?: SourcePresence } = {}) {
  const told: unknown[] = [];
  const context = {
    clusterState: {
      sourceDeleted: (...deletion: unknown[]) => void told.push(deletion),
      sourceUnwatched: (...loss: unknown[]) => void told.push(['unwatched', ...loss]),
    },
    listing: { drop: () => false },
    reports: { received: () => undefined },
    changed: () => undefined,
    presence,
  } as unknown as Context;
  const namespace = { name: 'ns', ended: new AbortController().signal, entering: false };
  const handler = new SourceHandler('ConfigMap', namespace, context);
  handler.delete({ ...seenSource('cm', 7, 'A'), ...(uid === undefined ? {} : { uid }) });
  await nextTurn();
  return told;
}

const DELETION = ['ConfigMap/ns/cm', '7', { kind: 'ConfigMap', namespace: 'ns' }];

test('a deletion is told to the cluster state, with its resourceVersion', async () => {
  expect(await toldOfDeletion()).toEqual([DELETION]);
});

test('with a label selector, a source that only lost its labels is not deleted, but one that came back is', async () => {
  const get = async () => ({ body: { metadata: { uid: 'second' } } }) as never;
  const presence = new SourcePresence({ get }, new AbortController().signal, (error) =>
    expect.fail(String(error)),
  );
  expect(await toldOfDeletion({ uid: 'second', presence })).toEqual([['unwatched', 'ConfigMap/ns/cm', '7']]);
  expect(await toldOfDeletion({ uid: 'first', presence })).toEqual([DELETION]);
});

test('a certificate is noted unless the cluster state knows a later write of its Secret', () => {
  const noted: unknown[] = [];
  const later = seenSource('later', 9, 'B');
  const context = {
    clusterState: {
      sources: new Map([[later.key, later]]),
      sourceWritten(seen: ObservedSource) {
        if (seen.key !== later.key) this.sources.set(seen.key, seen);
      },
    },
    certificates: { seen: ({ key }: ObservedSource) => void noted.push(key) },
    reports: { received: () => undefined, unchanged: () => undefined },
    changed: () => undefined,
  } as unknown as Context;
  const namespace = { name: 'ns', ended: new AbortController().signal, entering: false };
  const handler = new SourceHandler('ConfigMap', namespace, context);
  void handler.upsert([seenSource('cm', 7, 'A'), seenSource('later', 7, 'A')], 'MODIFIED');
  expect(noted).toEqual(['ConfigMap/ns/cm']);
});

/** A stream with a label selector; `answer` tells it whether a source that it asks for is there. */
class LabelledStream {
  readonly asked: SourceKey[] = [];
  readonly told: string[] = [];
  readonly sources = new Map<SourceKey, ReturnType<typeof sourceRow>>();
  readonly handler: SourceHandler;
  readonly #answers: ((isThere: boolean) => void)[] = [];

  constructor() {
    const { sources, told } = this;
    const context = {
      clusterState: {
        sources,
        sourcesIn: () => sources.keys(),
        sourceDeleted: (key: SourceKey, rv: string) => void told.push(`${key} deleted at ${rv}`),
        sourceUnwatched: (key: SourceKey, rv: string) => void told.push(`${key} unwatched at ${rv}`),
        sourceWritten: ({ key, rv }: ObservedSource) => void told.push(`${key} written at ${rv}`),
        sourceListEnds: ({ unread, unwatched = new Set() }: Listed<ObservedSource, unknown>) => {
          told.push(
            `list ends, there: ${unread?.toSorted().join(' ')}; unwatched: ${[...unwatched].toSorted().join(' ')}`,
          );
          return [];
        },
      },
      certificates: { seen: () => undefined },
      listing: {
        begin: () => undefined,
        drop: () => false,
        end: async (rv: string, unread: readonly string[]) => {
          return { rv, unread, found: new Set(), catalog: new Map() };
        },
        ended: () => undefined,
      },
      reports: { received: () => undefined, unchanged: () => undefined },
      changed: () => undefined,
      presence: {
        isThere: (key: SourceKey) =>
          new Promise<boolean>((answer) => {
            this.asked.push(key);
            this.#answers.push(answer);
          }),
      },
    } as unknown as Context;
    const namespace = { name: '', ended: new AbortController().signal, entering: false };
    this.handler = new SourceHandler('ConfigMap', namespace, context);
  }

  /** The stream reports that it no longer has the source. */
  lost(key: SourceKey, uid = 'first'): void {
    this.handler.delete({ ...seenSource('cm', 7, 'A'), key, uid });
  }

  /** Answers the question that was asked as the n-th. */
  async answer(n: number, isThere: boolean): Promise<void> {
    this.#answers[n]?.(isThere);
    await nextTurn();
  }
}

const KEY = 'ConfigMap/ns/cm';

describe('with a label selector, a source that the stream no longer shows', () => {
  test('is asked for beside the stream: eight at a time, and namespaces take turns', async () => {
    const stream = new LabelledStream();
    for (let at = 0; at < 1_000; at += 1) stream.lost(`ConfigMap/evil/${at}`);
    stream.lost('ConfigMap/quiet/cm');
    expect(stream.asked).toHaveLength(8);
    for (let answered = 0; answered < 2; answered += 1) await stream.answer(answered, false);
    expect(stream.asked).toContain('ConfigMap/quiet/cm');
    expect(stream.asked).toHaveLength(10);
    expect(stream.told).toEqual(['ConfigMap/evil/0 deleted at 7', 'ConfigMap/evil/1 deleted at 7']);
  });

  test.each([
    ['another object', 'second', [`${KEY} deleted at 7`, `${KEY} written at 9`]],
    ['the same object', 'first', [`${KEY} written at 9`]],
  ])('and then shows again as %s, needs no answer', async (_, uid, told) => {
    const stream = new LabelledStream();
    stream.lost(KEY);
    void stream.handler.upsert([{ ...seenSource('cm', 9, 'A'), uid }], 'ADDED');
    await stream.answer(0, false);
    expect(stream.told).toEqual(told);
  });

  test('and loses a second time, is deleted by the second answer', async () => {
    const stream = new LabelledStream();
    stream.lost(KEY);
    void stream.handler.upsert([{ ...seenSource('cm', 9, 'A'), uid: 'second' }], 'ADDED');
    stream.told.length = 0;
    stream.lost(KEY, 'second');
    await stream.answer(0, false);
    expect(stream.told).toEqual([]);
    await stream.answer(1, false);
    expect(stream.told).toEqual([`${KEY} deleted at 7`]);
  });

  test('is left to its answer by a list that ends before', async () => {
    const stream = new LabelledStream();
    stream.sources.set(KEY, sourceRow(5, 'A'));
    stream.lost(KEY);
    stream.handler.replace();
    const ended = stream.handler.synced('50', []);
    await nextTurn();
    expect(stream.asked).toEqual([KEY]);
    await ended;
    await stream.answer(0, false);
    expect(stream.told).toEqual([`list ends, there: ${KEY}; unwatched: `, `${KEY} deleted at 7`]);
  });
});

test('with a label selector, the end of a list asks for eight sources at a time', async () => {
  const stream = new LabelledStream();
  for (let at = 0; at < 20; at += 1) stream.sources.set(`ConfigMap/ns/${at}`, sourceRow(5, 'A'));
  const ended = stream.handler.synced('50', []);
  await nextTurn();
  expect(stream.asked).toHaveLength(8);
  for (let answered = 0; answered < 20; answered += 1) await stream.answer(answered, answered < 2);
  await ended;
  const [first, second] = stream.asked.slice(0, 2).toSorted();
  expect(stream.told).toEqual([`list ends, there: ; unwatched: ${first} ${second}`]);
});

test('a source with the labels that a list shows and that cannot be read is watched', async () => {
  const stream = new LabelledStream();
  stream.sources.set(KEY, sourceRow(5, 'A'));
  await stream.handler.synced('50', [KEY]);
  expect(stream.asked).toEqual([]);
  expect(stream.told).toEqual([`list ends, there: ${KEY}; unwatched: `]);
});
