import { expect, it } from 'vitest';
import { Scene } from '../testing/scene.ts';

it('a dry run says whether it has reported the reload before', async () => {
  const scene = new Scene((of) => void (of.settings = { dryRun: true }));
  const outcomes = [await scene.run(), await scene.run()];
  expect(outcomes.map(({ reason, isRepeated }) => [reason, isRepeated])).toEqual([
    ['WouldReload', false],
    ['InStep', true],
  ]);
});
