import { describe, expect, it } from 'vitest';
import { refusal } from '../testing/fake-api.ts';
import {
  all,
  answers,
  asked,
  finishedJob,
  KEYS,
  overtaken,
  recordOf,
  Scene,
  settled,
  stale,
  type Change,
} from '../testing/scene.ts';

describe('the slot of a reload', () => {
  const limited: Change = (scene) => void (scene.budget = []);
  it.each<[string, string[], Change]>([
    ['is claimed before anything is read, and used', ['ask', 'claim', 'used'], () => undefined],
    ['is not claimed by what is settled', ['ask'], settled],
    [
      'is not claimed by what the catalog does not know',
      ['ask'],
      all(settled, (scene) => void (scene.row = null)),
    ],
    [
      'is not claimed by what is left alone',
      ['ask'],
      all(finishedJob, (scene) => void (scene.row = { dependencies: [] })),
    ],
    ['that is its turn by now is used', ['ask', 'used'], (scene) => void (scene.waiting = 0)],
    ['for which it waits is not claimed again', ['ask'], (scene) => void (scene.waiting = 5_000)],
    ['is claimed for a request', ['ask', 'claim', 'used'], all(settled, asked)],
    [
      'is given back by what turns out to need no reload',
      ['ask', 'claim', 'given back'],
      all(settled, (scene) => void (scene.row = { record: recordOf('old') })),
    ],
    ['is given back if others keep writing', ['ask', 'claim', 'given back'], overtaken(5)],
    [
      'is given back if there is no room for the annotations',
      ['ask', 'claim', 'given back'],
      answers('PATCH', refusal(422, { field: 'metadata.annotations' })),
    ],
    [
      'is used if nothing tells whether the patch came',
      ['ask', 'claim', 'used'],
      answers('PATCH', new Error('lost')),
    ],
    ['is not asked for in a dry run', [], (scene) => void (scene.settings = { dryRun: true })],
    ['nor if changes are posted instead', [], (scene) => void (scene.settings = { notifyOnly: true })],
  ])('%s', async (_name, expected, change) => {
    const scene = new Scene(all(limited, change));
    await scene.run().catch(() => undefined);
    expect(scene.slot).toEqual(expected);
  });

  it('is claimed late by what only a read shows', async () => {
    const scene = new Scene(
      all(limited, stale, (of) => {
        of.settings = { adoptStale: 'reload' };
      }),
    );
    await scene.run();
    expect(scene.slot).toEqual(['ask', 'claim', 'used']);
  });

  it('is waited for without reading a finished Job with --recreate-finished-jobs', async () => {
    const scene = new Scene(finishedJob);
    const read: string[] = [];
    scene.api.before = (method, path) => void read.push(`${method} ${path}`);
    scene.budget = [70_000];
    const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
    scene.settings = { decision: { ...decision, recreateFinishedJobs: true } };
    await expect(scene.run()).rejects.toThrow('RateLimited');
    expect(read.filter((each) => each.endsWith(scene.path))).toEqual([]);
  });
});
