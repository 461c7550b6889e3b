import type { Decision } from '../rules/decision.ts';
import { sourceNameOf } from '../state/rows.ts';
import { sourceUses, type SourceUse } from '../references/source-uses.ts';
import type { SourceKey } from '../model.ts';
import { partsOf } from '../model.ts';
import type { ExplainedWorkload } from './facts.ts';

export interface UseFacts {
  /** A container reads or mounts it. */
  readonly used: boolean;
  /** Only a volume names it that no container mounts, or that follows another volume of the same source. */
  readonly mentioned: boolean;
  /** If false, nothing can carry a marker, and nothing is reloaded. */
  readonly hasContainers: boolean;
  /** Whether the deciding rule needs the source to be used. Otherwise any container carries the marker. */
  readonly isNeeded: boolean;
  /** Null: not known; only the pod template shows it. */
  readonly places: readonly SourceUse[] | null;
  /** One sentence. */
  readonly detail: string;
}

export function useFacts(workload: ExplainedWorkload, source: SourceKey, decision: Decision): UseFacts {
  const name = sourceNameOf(source);
  const { uses, mentions, hasContainers } = workload.row;
  const [used, mentioned] = [uses.includes(name), mentions.includes(name)];
  const places = workload.podSpec ? sourceUses(workload.podSpec, partsOf(source)) : null;
  const detail = used ? usedWords(places) : UNUSED[mentioned ? 'mentioned' : 'none'];
  return { used, mentioned, hasContainers, isNeeded: decision.auto, places, detail };
}

const UNUSED = {
  mentioned: 'The pod template names the source only in a volume that no container uses.',
  none: 'The pod template does not use the source.',
} as const;

function usedWords(places: readonly SourceUse[] | null): string {
  if (places === null) return 'A container of the pod template uses the source.';
  return `The pod template uses the source: ${places.map(placeWords).join('; ')}.`;
}

const PLACES: Readonly<Record<SourceUse['by'], string>> = {
  env: 'variable',
  envFrom: 'envFrom',
  volume: 'volume',
  projectedVolume: 'projected volume',
  csiVolume: 'CSI volume',
};

function placeWords({ by, container, init, name }: SourceUse): string {
  const what = name === undefined ? PLACES[by] : `${PLACES[by]} ${name}`;
  if (container === undefined) return `${what}, which nothing mounts`;
  return `${what} of ${init ? 'init container' : 'container'} ${container}`;
}
