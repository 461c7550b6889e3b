import { beforeEach, expect, it } from 'vitest';
import { LONGEST_BAKE } from '../holds/waves.ts';
import { Completions } from './completions.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';

let completions: Completions;

beforeEach(() => {
  completions = new Completions();
});

function written() {
  return completions.take(100, []);
}

it('knows when a rollout was complete, and since when its pods are unavailable again', () => {
  completions.completed(WEB, 1_000);
  expect(written()).toEqual({ put: [[WEB, { completeAt: 1_000 }]], removed: [] });
  completions.seen(WEB, 'complete', 2_000);
  expect(completions.isDirty).toBe(false);
  completions.seen(WEB, 'progressing', 3_000);
  completions.seen(WEB, 'progressing', 4_000);
  expect(written().put).toEqual([[WEB, { completeAt: 1_000, unavailableSince: 3_000 }]]);
  completions.seen(WEB, 'complete', 5_000);
  expect(written().put).toEqual([[WEB, { completeAt: 5_000 }]]);
  completions.seen(API, 'progressing', 6_000);
  expect(completions.isDirty).toBe(false);
});

it('forgets what is gone, and what was complete an hour ago when another one is', () => {
  completions.completed(WEB, 0);
  completions.completed(API, 1);
  completions.forget(API);
  expect(written()).toEqual({ put: [[WEB, { completeAt: 0 }]], removed: [API] });
  completions.completed(API, LONGEST_BAKE);
  expect(written()).toEqual({ put: [[API, { completeAt: LONGEST_BAKE }]], removed: [WEB] });
  completions.prune((workload) => workload !== API);
  expect(written()).toEqual({ put: [], removed: [API] });
});

it('writes all of what has to come first, and again what could not be written', () => {
  for (const workload of [WEB, API] as const) completions.completed(workload, 1);
  const first = completions.take(0, [API]);
  expect(first.put).toEqual([[API, { completeAt: 1 }]]);
  expect(completions.take(1, []).put).toEqual([[WEB, { completeAt: 1 }]]);
  completions.giveBack(first);
  expect(written()).toEqual(first);
});

it('writes everything under a new leader, who removes what an earlier one left; a standby writes nothing', () => {
  completions.completed(WEB, 1);
  completions.discard();
  expect(completions.isDirty).toBe(false);
  completions.assertAll([API]);
  expect(written()).toEqual({ put: [[WEB, { completeAt: 1 }]], removed: [API] });
});
