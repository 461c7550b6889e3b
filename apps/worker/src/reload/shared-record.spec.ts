import type { WorkloadKey } from '@reroll/core/model';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { workloadRow } from '@reroll/core/testing/rows';
import { describe, expect, it } from 'vitest';
import { all, asked, CM, follower, recordOf, Scene, TEMPLATE, type Change } from '../testing/scene.ts';

/** A Rollout that shares the record of its Deployment with another one. Both templates were written at these resourceVersions. */
function sharing(own: string, others: string): Change {
  return all(follower({ [RECORD_ANNOTATION]: recordOf('old') }, { template: TEMPLATE }), (scene) => {
    const of = { key: 'Deployment/ns/d', uid: 'uid-d', generation: 1, rv: '9', isMarked: true } as const;
    const known = { uses: [CM], dependencies: [CM], unverified: [CM], templateRv: own };
    scene.row = { ...known, templateOwner: { ...of, sharers: ['Rollout/ns/other'] } };
    const other = workloadRow({ dependencies: [CM], templateRv: others, templateOwner: of });
    scene.others.set('Rollout/ns/other', other);
  });
}

function settledThere(scene: Scene): void {
  follower({ [RECORD_ANNOTATION]: recordOf('new') }, { template: TEMPLATE })(scene);
  scene.row = { ...scene.row, unverified: [] };
}

describe('the record of a Deployment that two Rollouts share', () => {
  it.each<[string, string[], Change]>([
    ['is corrected if the pods of both have the data', ['BroughtByOwner', 'recorded'], sharing('25', '25')],
    ['stays while one of them has a reload pending', ['RecordShared', 'unchanged'], sharing('25', '10')],
    [
      'stays if the catalog does not know one yet',
      ['RecordShared', 'unchanged'],
      all(sharing('25', '25'), (scene) => scene.others.clear()),
    ],
    ['is written by a rollout', ['Reloaded', 'reloaded'], sharing('10', '10')],
    ['is written by a rollout for a request', ['Reloaded', 'reloaded'], all(sharing('25', '10'), asked)],
  ])('%s', async (_how, [reason, state], change) => {
    const scene = new Scene(change);
    expect(await scene.run()).toMatchObject({ reason, state });
    expect(scene.api.writes).toHaveLength(state === 'unchanged' ? 0 : 1);
  });

  it.each<[string, WorkloadKey[], Change]>([
    ['which it is about to correct', ['Rollout/ns/other'], sharing('25', '25')],
    ['which it leaves as it is', [], all(sharing('25', '25'), settledThere)],
    ['which it writes with a rollout', [], sharing('10', '10')],
    ['of a dry run', [], all(sharing('25', '10'), (scene) => void (scene.settings = { dryRun: true }))],
  ])('costs a look at the rows of the others if it is one %s: %j', async (_how, asked, change) => {
    const scene = new Scene(change);
    await scene.run();
    expect(scene.rowsAsked).toEqual(asked);
  });
});
