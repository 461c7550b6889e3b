import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  pre,
  property,
  record,
  type Arbitrary,
} from 'fast-check';
import { expect, it } from 'vitest';
import type { UsingPod } from './pod.ts';
import { sourceWrites } from './source-writes.ts';
import { isCreatedAround, verdictOf, type Verdict } from './verdict.ts';

/*
 * A model of what really happens, in milliseconds. Writes are dated, held up and stored. A kubelet reads from a cache that lags, and
 * starts the container a while later, by a clock of its own. The verdict sees whole seconds only.
 */
const ORIGIN = 1_800_000_000_000;
/** Covers the lag, the time that a start takes, what holds up a write, and the difference of the clocks. */
const DELAY_S = 15;
/** How long a pod takes before its containers read anything: longer than a write without a slow webhook. */
const POD_TAKES = 400;

const scene = record({
  writes: array(
    record({
      after: integer({ min: 0, max: 20_000 }),
      heldUp: integer({ min: 0, max: 3_000 }),
      what: constantFrom('data', 'data', 'data', 'label', 'labelOfWriter', 'removal'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  created: integer({ min: 0, max: 60_000 }),
  /** From its creation until a container last read its environment: at its first start, or at a later one. */
  readAfter: constantFrom(POD_TAKES, 1_500, 9_000, 25_000, 45_000),
  lag: integer({ min: 0, max: 5_000 }),
  startTakes: integer({ min: 0, max: 5_000 }),
  clockAhead: integer({ min: -1_000, max: 1_000 }),
  seenAfter: integer({ min: 0, max: 40_000 }),
  /** Whether the list of pods at the last write is had. If not, writes are not held up for long. */
  isAsked: boolean(),
  isKept: boolean(),
  by: constantFrom('env', 'subPath', 'volume'),
});
type Scene = typeof scene extends Arbitrary<infer Value> ? Value : never;

interface Write {
  readonly dated: number;
  readonly stored: number;
  readonly what: string;
}

/** One after the other, as conflicts make them. */
function writesOf({ writes, isAsked }: Scene, until: number): Write[] {
  let time = 0;
  return writes
    .map(({ after, heldUp, what }) => {
      const dated = time + after;
      time = dated + (isAsked ? heldUp : Math.min(heldUp, POD_TAKES - 1)) + 1;
      return { dated, stored: time, what };
    })
    .filter(({ stored }) => stored <= until);
}

const seconds = (time: number): number => Math.floor((ORIGIN + time) / 1000);
const text = (time: number): string => new Date(seconds(time) * 1000).toISOString();

function outcome(of: Scene): { readonly verdict: Verdict['state']; readonly isOlder: boolean } | undefined {
  const read = of.created + of.readAfter;
  const started = read + of.startTakes;
  const now = started + of.seenAfter;
  const writes = writesOf(of, now);
  const known = Math.max(of.created + (of.isAsked ? 0 : POD_TAKES), read - of.lag);
  // Removals leave no time. Nothing tells of those during a start, nor of those that another write since the start accounts for.
  const removals = writes.filter(({ what }) => what === 'removal');
  pre(!removals.some(({ stored }) => stored > known && stored <= started));
  const hasDated = writes.some(({ what, stored }) => what !== 'removal' && stored > started);
  pre(
    removals.length === 0 ||
      !(writes.some(({ what }) => what === 'label') || (hasDated && of.by === 'volume')),
  );

  const version = (time: number): number =>
    writes.filter(({ what, stored }) => (what === 'data' || what === 'removal') && stored <= time).length;
  const refreshed = of.by === 'volume' && of.isKept ? now - 2 * of.lag : 0;
  const last = writes.at(-1);
  const source = sourceWrites(metadataOf(writes));
  const pod = podOf(of, started);
  const existed = of.isAsked && isCreatedAround(pod, source) ? of.created <= (last?.stored ?? 0) : undefined;
  const verdict = verdictOf(
    {
      source: { kind: 'Secret', name: 'db' },
      by: of.by,
      container: 'app',
      group: 'containers',
      isInit: false,
    },
    { pod, source, now: seconds(now), seenAt: seconds(now), delay: DELAY_S, existedAtLastWrite: existed },
  );
  return verdict === null
    ? undefined
    : { verdict: verdict.state, isOlder: version(Math.max(known, refreshed)) < version(now) };
}

function metadataOf(writes: readonly Write[]): Parameters<typeof sourceWrites>[0] {
  const entry = (time: number, field: string) => ({ time: text(time), fieldsV1: { [field]: {} } });
  const last = (...what: readonly string[]): number | undefined =>
    writes.findLast((each) => what.includes(each.what))?.dated;
  const label = last('label');
  return {
    name: 'db',
    namespace: 'shop',
    uid: 's',
    creationTimestamp: text(-100_000),
    resourceVersion: String(200_000 + (writes.at(-1)?.stored ?? 0)),
    managedFields: [
      entry(last('data', 'labelOfWriter') ?? -100_000, 'f:data'),
      ...(label === undefined ? [] : [entry(label, 'f:metadata')]),
    ],
  };
}

/** Last written when its container had started. */
function podOf({ created, clockAhead, isKept }: Scene, started: number): UsingPod {
  return {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'p',
      creationTimestamp: text(created),
      resourceVersion: String(200_000 + started),
    },
    spec: {},
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isKept ? 'True' : 'False' }],
      containerStatuses: [{ name: 'app', state: { running: { startedAt: text(started + clockAhead) } } }],
    },
  };
}

it('never says of a container with older data that it is current, nor of one with the current data that it is stale', () => {
  const seen = { current: 0, stale: 0, unknown: 0 };
  assert(
    property(scene, (of) => {
      const found = outcome(of);
      if (found === undefined) return;
      seen[found.verdict] += 1;
      if (found.verdict === 'current') expect(found.isOlder).toBe(false);
      // A node whose clock is behind, and labels by a writer of data, make it say so too early.
      const mayErr = of.clockAhead < 0 || of.writes.some(({ what }) => what === 'labelOfWriter');
      if (found.verdict === 'stale' && !mayErr) expect(found.isOlder).toBe(true);
    }),
    { numRuns: 20_000, seed: 15 },
  );
  // It does tell most of the time.
  expect(Math.min(seen.current, seen.stale)).toBeGreaterThan(1_000);
  expect(seen.unknown).toBeLessThan(seen.current + seen.stale);
});
