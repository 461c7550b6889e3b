import type { Consumer } from '@reroll/kube/convergence/convergence-reading';
import { age } from '../output/age.ts';
import type { ListView } from '../output/print.ts';
import { toned } from '../output/table.ts';
import { shortName } from './names.ts';

const TONES = { current: 'good', stale: 'bad', unknown: 'waiting' } as const;

export function consumersView(now: number): ListView<Consumer> {
  return {
    nameOf: ({ pod }) => `pod/${pod}`,
    columns: [
      { title: 'NAMESPACE', cell: ({ namespace }) => namespace },
      { title: 'POD', cell: ({ pod }) => pod },
      { title: 'CONTAINER', cell: ({ container }) => container ?? '' },
      { title: 'SOURCE', cell: ({ source }) => shortName(source) },
      { title: 'USE', cell: ({ use }) => use },
      { title: 'STATE', cell: ({ state }) => toned(state, TONES[state]) },
      { title: 'SINCE', cell: ({ since }) => (since === null ? '' : age(since, now)) },
      { title: 'WHY', cell: ({ why }) => why },
    ],
  };
}

/** `2 stale, 1 unknown`. */
export function countsOf(consumers: readonly Consumer[]): string {
  const count = (state: Consumer['state']): number => consumers.filter((each) => each.state === state).length;
  return `${count('stale')} stale, ${count('unknown')} unknown`;
}
