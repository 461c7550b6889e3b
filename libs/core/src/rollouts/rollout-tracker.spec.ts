import { beforeEach, describe, expect, it } from 'vitest';
import type { RolloutEntry } from '../history/entries.ts';
import { RolloutTracker, type SeenRollout } from './rollout-tracker.ts';

const WEB = 'Deployment/shop/web';
const NOTHING = { put: [], removed: [], ended: [] };

let tracker: RolloutTracker;
let now: number;

beforeEach(() => {
  tracker = new RolloutTracker();
  now = 1_000;
});

function rollout(state: SeenRollout['state'], changed: Partial<SeenRollout> = {}): SeenRollout {
  const code = { progressing: 'Updating', complete: 'Complete', stuck: 'ProgressDeadlineExceeded' } as const;
  const counts = { updated: 1, ready: 1, desired: 3 };
  return { workload: WEB, generation: 2, state, code: code[state], ...counts, conditions: [], ...changed };
}

function entry(
  state: SeenRollout['state'],
  times: { since: number; at: number },
  changed: Partial<RolloutEntry> = {},
): RolloutEntry {
  return { ...rollout(state), ...times, ...changed };
}

/** One sighting a second. */
function sees(seen: SeenRollout, begins = false): void {
  tracker.seen(seen, { begins, now });
  now += 1_000;
}

/** What is to be written since it was asked last. */
function written(): ReturnType<RolloutTracker['take']> {
  return tracker.take(100);
}

describe('a rollout', () => {
  it('begins with another pod template, and is told once it is complete, from then to now', () => {
    sees(rollout('progressing', { code: 'NotObserved' }), true);
    expect(written()).toEqual({
      ...NOTHING,
      put: [entry('progressing', { since: 1_000, at: 1_000 }, { code: 'NotObserved' })],
    });
    sees(rollout('progressing'));
    expect(written().put).toEqual([entry('progressing', { since: 1_000, at: 2_000 })]);
    sees(rollout('complete'));
    expect(written()).toEqual({
      ...NOTHING,
      removed: [WEB],
      ended: [entry('complete', { since: 1_000, at: 3_000 })],
    });
    expect(tracker.tracked.size).toBe(0);
  });

  it('is told when it gets stuck, once, and again when it is complete after all', () => {
    sees(rollout('progressing'), true);
    sees(rollout('stuck'));
    sees(rollout('stuck', { ready: 0 }));
    expect(written().ended).toEqual([entry('stuck', { since: 1_000, at: 2_000 })]);
    sees(rollout('complete'));
    expect(written().ended.map(({ state }) => state)).toEqual(['complete']);
  });

  it('that another template overtakes begins anew', () => {
    sees(rollout('stuck'), true);
    sees(rollout('progressing', { generation: 3 }), true);
    expect(written().put).toEqual([entry('progressing', { since: 2_000, at: 2_000 }, { generation: 3 })]);
  });

  it('is none if pods come and go under the same template', () => {
    sees(rollout('progressing', { code: 'Unavailable' }));
    sees(rollout('complete'));
    expect(tracker.isDirty).toBe(false);
  });

  it('ends without a word with its workload', () => {
    sees(rollout('progressing'), true);
    written();
    tracker.gone(WEB);
    expect(written()).toEqual({ ...NOTHING, removed: [WEB] });
    sees(rollout('progressing'), true);
    written();
    tracker.prune(() => false);
    expect(written()).toEqual({ ...NOTHING, removed: [WEB] });
  });
});

describe('what is to be written', () => {
  it('is nothing for a sighting that says the same', () => {
    sees(rollout('progressing'), true);
    written();
    sees(rollout('progressing'));
    expect(tracker.isDirty).toBe(false);
  });

  it('can wait if only a count moved, and cannot if a rollout begins, is stuck or ends', () => {
    sees(rollout('progressing'), true);
    expect(tracker.isUrgent).toBe(true);
    written();
    sees(rollout('progressing', { ready: 2 }));
    expect([tracker.isDirty, tracker.isUrgent]).toEqual([true, false]);
    sees(rollout('stuck'));
    expect(tracker.isUrgent).toBe(true);
  });

  it('is there again if it could not be written', () => {
    sees(rollout('progressing'), true);
    sees(rollout('stuck'));
    const changes = written();
    expect(tracker.isDirty).toBe(false);
    tracker.giveBack(changes);
    expect(written()).toEqual(changes);
  });

  it('is taken in portions', () => {
    for (const name of ['a', 'b', 'c'])
      sees(rollout('progressing', { workload: `Deployment/shop/${name}` }), true);
    expect([tracker.take(2), tracker.take(2)].map(({ put }) => put.length)).toEqual([2, 1]);
  });

  it('is nothing on a standby, which knows all the same', () => {
    sees(rollout('progressing'), true);
    tracker.discard();
    expect(tracker.isDirty).toBe(false);
    tracker.assertAll();
    expect(written().put).toEqual([entry('progressing', { since: 1_000, at: 1_000 })]);
  });
});

describe('what pods say of a workload that is stuck', () => {
  const pods = [{ name: 'web-1', container: 'app', reason: 'ImagePullBackOff', message: 'Back-off' }];

  it('is added to it, also in the history if that is not written yet', () => {
    sees(rollout('progressing'), true);
    sees(rollout('stuck'));
    tracker.explained(WEB, pods, now);
    const { put, ended } = written();
    expect([put[0]?.pods, ended[0]?.pods]).toEqual([pods, pods]);
  });

  it('is not if it gets on by then', () => {
    sees(rollout('progressing'), true);
    tracker.explained(WEB, pods, now);
    expect(written().put[0]?.pods).toBeUndefined();
  });
});

describe('a leader that takes over', () => {
  const takesOver = (left: RolloutEntry, isThere: boolean | undefined): ReturnType<typeof written> => {
    tracker.discard();
    tracker.assertAll();
    tracker.reconcile([left], { isThere: () => isThere, now: 9_000 });
    return written();
  };
  const left = entry('progressing', { since: 500, at: 600 });

  it('tells what was completed meanwhile', () => {
    expect(takesOver(left, true)).toEqual({
      ...NOTHING,
      removed: [WEB],
      ended: [entry('complete', { since: 500, at: 9_000 }, { code: 'Complete' })],
    });
  });

  it('keeps since when a rollout is under way', () => {
    sees(rollout('progressing'), true);
    expect(takesOver(left, true).put).toEqual([entry('progressing', { since: 500, at: 1_000 })]);
  });

  it('tells what got stuck meanwhile', () => {
    sees(rollout('stuck'), true);
    expect(takesOver(left, true).ended).toEqual([entry('stuck', { since: 500, at: 1_000 })]);
  });

  const pods = [{ name: 'web-1', container: 'app', reason: 'ErrImagePull', message: 'not found' }];

  it('keeps what the pods of a workload said that is stuck still', () => {
    sees(rollout('stuck'), true);
    const said = takesOver(entry('stuck', { since: 500, at: 600 }, { pods }), true);
    expect(said.put).toEqual([entry('stuck', { since: 500, at: 1_000 }, { pods })]);
  });

  it('keeps nothing of pods of an earlier generation', () => {
    sees({ ...rollout('stuck'), generation: 99 }, true);
    const said = takesOver(entry('stuck', { since: 500, at: 600 }, { pods }), true);
    expect(said.put).toMatchObject([{ state: 'stuck', generation: 99, since: 500 }]);
    expect(said.put[0]?.pods).toBeUndefined();
  });

  it('removes what is gone, and leaves alone what it cannot know yet', () => {
    expect(takesOver(left, false)).toEqual({ ...NOTHING, removed: [WEB] });
    expect(takesOver(left, undefined)).toEqual(NOTHING);
  });
});
