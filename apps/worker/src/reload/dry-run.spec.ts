import { expect, it } from 'vitest';
import { recordedHashes } from '@reroll/core/record/record';
import { all, asked, recordOf, Scene, unrecorded } from '../testing/scene.ts';

it('a dry run says whether it has reported the reload before', async () => {
  const scene = new Scene((of) => void (of.settings = { dryRun: true }));
  const outcomes = [await scene.run(), await scene.run()];
  expect(outcomes.map(({ reason, isRepeated }) => [reason, isRepeated])).toEqual([
    ['WouldReload', false],
    ['InStep', true],
  ]);
});

it('a dry run counts the reloads that it pretends for a reload limit', async () => {
  const change = (data: string, pretended?: string): Scene =>
    new Scene((of) => {
      of.settings = { dryRun: true };
      of.annotations = { ...of.annotations, 'reroll.dev/reload-limit': '1/24h' };
      of.data = data;
      of.pretended = pretended;
    });
  const first = change('one');
  expect(await first.run()).toMatchObject({ reason: 'WouldReload' });
  expect(await change('two', first.pretended).run()).toMatchObject({ reason: 'TooOften' });
});

it.each([false, true])(
  'a pod template without room for a marker is reported; dry run: %s',
  async (dryRun) => {
    const scene = new Scene((of) => {
      of.settings = { dryRun };
      of.ways = { strategy: 'annotations' };
      of.templateAnnotations = { x: 'a'.repeat(259_000) };
    });
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'AnnotationsFull' });
  },
);

it('a manual reload in a dry run keeps what the dry run pretends to have recorded', async () => {
  const pretended = recordOf('new');
  const scene = new Scene(
    all(unrecorded, asked, (of) => Object.assign(of, { pretended, settings: { dryRun: true } })),
  );
  expect(await scene.run()).toMatchObject({ reason: 'WouldReload' });
  expect(recordedHashes(scene.pretended)).toEqual(recordedHashes(pretended));
});
