import type { Held, State } from './verdicts.ts';

type Counts = Record<State, number>;

/** How often which verdict was held against what a process sees, by moment, and by what is used how. */
export class Tally {
  readonly #moments = new Map<string, Counts & { looks: number }>();
  readonly #kinds = new Map<string, Counts>();

  add(moment: string, held: readonly Held[]): void {
    const counts = this.#moments.get(moment) ?? { current: 0, stale: 0, unknown: 0, looks: 0 };
    counts.looks += 1;
    this.#moments.set(moment, counts);
    for (const each of held) {
      counts[each.state] += 1;
      for (const kind of kindsOf(each)) {
        const ofKind = this.#kinds.get(kind) ?? { current: 0, stale: 0, unknown: 0 };
        ofKind[each.state] += 1;
        this.#kinds.set(kind, ofKind);
      }
    }
  }

  ofKind(kind: string): Readonly<Counts> {
    return this.#kinds.get(kind) ?? { current: 0, stale: 0, unknown: 0 };
  }

  text(): string {
    const all = { ...Object.fromEntries(this.#moments), ...Object.fromEntries(this.#kinds) };
    return Object.entries(all)
      .map(([name, counts]) => `${name}: ${JSON.stringify(counts)}`)
      .join('\n');
  }
}

export const USES = [
  'env',
  'envFrom',
  'volume',
  'subPath',
  'projected',
  'optional',
  'immutable',
  'init',
  'sidecar',
  'two',
  'restarted',
] as const;

/** Each of `USES` that it is. */
function kindsOf({ use, container, pod, hasRestarted }: Held): string[] {
  const isFile = use.by === 'volume' || use.by === 'subPath';
  return [
    use.by,
    ...(isFile && use.isProjected ? ['projected'] : []),
    ...(use.source === 'extra' ? ['optional'] : []),
    ...(use.source === 'sealed' || use.source === 'closing' ? ['immutable'] : []),
    ...(container.role === 'app' ? [] : [container.role]),
    ...(pod.form === 'two' ? ['two'] : []),
    ...(hasRestarted ? ['restarted'] : []),
  ];
}
