import { HistoryJoin } from '@reroll/core/history/join';
import { stateOf } from '@reroll/core/history/states';
import { changed } from '@reroll/core/testing/history';
import { changeSummary as shape } from '@reroll/shared/api/changes';
import { expect, it } from 'vitest';
import type { ShownHashes } from '../shown-hashes.ts';
import { changeSummary } from './views.ts';

const hashes = { shown: () => 'shown' } as unknown as ShownHashes;
const request = { id: '1000-a', actor: 'ann', reason: 'a test' };

it('a manual reload says of what, and a change of a source does not', () => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000, { source: null, cause: 'manual', request }));
  join.addChange('2000-0', changed(2000));
  const shown = join.changes.map((change) => shape.parse(changeSummary(change, { hashes, stateOf })));
  expect(shown.map(({ workload }) => workload)).toEqual([
    { kind: 'Deployment', namespace: 'shop', name: 'web' },
    undefined,
  ]);
});
