import type { WorkloadKey } from '../../model.ts';
import { recordedTemplate, type RecordedTemplate } from '../../record/record.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../../rv.ts';
import { RELEASE_ANNOTATION } from './conflict.ts';
import type { ObservedWorkload, WorkloadRow } from '../rows.ts';

/** Of a workload without a pod template of its own: whose it has. */
export interface TemplateFrom {
  /** In the same namespace; there may be none. */
  readonly owner: WorkloadKey;
  /** A reload changes the owner's pod template, so marker and record are there; else they are on the workload. */
  readonly isMarkedThere: boolean;
}

/** The workload whose pod template another one has, as of the sighting. */
export interface TemplateOwner {
  readonly key: WorkloadKey;
  readonly uid: string;
  readonly generation: number;
  readonly rv: Rv;
  /** Marker and record are on it too, not on the workload itself. */
  readonly isMarked: boolean;
  /** Of its last write that changed the template, as far as its own row tells. */
  readonly templateRv?: Rv | undefined;
}

type OwnerSettings = Pick<DecisionSettings, 'keys' | 'autoReloadAll'>;
/** As observed, or its row in the cluster state. */
type Owner = Pick<
  ObservedWorkload,
  | 'uid'
  | 'generation'
  | 'rv'
  | 'template'
  | 'hasContainers'
  | 'uses'
  | 'mentions'
  | 'marks'
  | 'annotations'
  | 'podAnnotations'
  | 'record'
  | 'excess'
  | 'writtenAt'
> &
  Partial<Pick<WorkloadRow, 'templateRv'>>;

/**
 * A workload together with the one whose pod template it has: as if it had the template itself. Its annotations
 * count only if the owner asks for nothing itself; else the owner is reloaded, and its template brings the
 * other along.
 */
export function withTemplateOf(
  own: ObservedWorkload,
  owner: Owner | undefined,
  settings: OwnerSettings,
): ObservedWorkload {
  const { templateFrom, ...seen } = own;
  if (!templateFrom) return own;
  if (!owner) return { ...seen, leftAlone: 'WorkloadRefMissing' };
  const { template, hasContainers, uses, mentions, marks, podAnnotations } = owner;
  return {
    ...seen,
    ...(asks(owner, settings) ? { leftAlone: 'WorkloadRefAnnotated' as const } : {}),
    template,
    hasContainers,
    uses,
    mentions,
    marks,
    podAnnotations,
    excess: own.excess ?? owner.excess,
    record: templateFrom.isMarkedThere ? owner.record : own.record,
    writtenAt: Math.max(own.writtenAt ?? 0, owner.writtenAt ?? 0),
    templateOwner: {
      key: templateFrom.owner,
      uid: owner.uid,
      generation: owner.generation,
      rv: owner.rv,
      templateRv: owner.templateRv,
      isMarked: templateFrom.isMarkedThere,
    },
  };
}

/** Whether the two are of the same state of the same owner, as far as a patch tests it. */
export function isSameOwner(a: TemplateOwner | undefined, b: TemplateOwner | undefined): boolean {
  return a?.key === b?.key && a?.uid === b?.uid && a?.generation === b?.generation;
}

/** Whether a sighting tells of a later write than `known`, of the workload itself or of its template's owner. */
export function isLaterSighting(seen: ObservedWorkload, known: WorkloadRow): boolean {
  if (seen.rv !== known.rv) return isNewer(seen.rv, known.rv);
  const [now, before] = [seen.templateOwner, known.templateOwner];
  if (now?.uid !== before?.uid) return true;
  return now !== undefined && before !== undefined && isNewer(now.rv, before.rv);
}

/** The write that a live sighting is of. Two objects: one stream each, so one of the two has moved. */
export function writeSeen(seen: ObservedWorkload, known: WorkloadRow | undefined): Rv {
  const isOwn = !known || isNewer(seen.rv, known.rv);
  return isOwn ? seen.rv : (seen.templateOwner?.rv ?? seen.rv);
}

/** The same of one that shows another template: if it is another owner's, that may have been written after it. */
export function templateWriteSeen(seen: ObservedWorkload, known: WorkloadRow | undefined): Rv {
  const { key, templateRv = RV_UNKNOWN } = seen.templateOwner ?? {};
  const write = writeSeen(seen, known);
  return known?.templateOwner?.key === key ? write : maxRv(write, templateRv);
}

/** Up to where everything about the workload is known, its template's owner included. */
export function knownUpTo({ rv, templateOwner }: WorkloadRow): Rv {
  return templateOwner && isNewer(rv, templateOwner.rv) ? templateOwner.rv : rv;
}

/** A lower bound of the unseen write that changed the template, or restarted the pods, since `known`. */
export function rolledAfter(known: WorkloadRow, seen: ObservedWorkload): Rv {
  const isRestarted = (seen.restartAt ?? 0) > (known.restartAt ?? 0);
  const isRetargeted = seen.templateOwner?.key !== known.templateOwner?.key;
  return isRestarted || isRetargeted ? known.rv : (known.templateOwner?.rv ?? known.rv);
}

/** What a record has to say of the template, because no patch of the one object can test the other. */
export function decidedBy({
  templateOwner,
}: Pick<ObservedWorkload, 'templateOwner'>): RecordedTemplate | undefined {
  return templateOwner && !templateOwner.isMarked ? templateOwner : undefined;
}

/** Whether the record was decided by an earlier state of the template's owner than this one, or of another owner. */
export function isDecidedBefore({ record, templateOwner }: ObservedWorkload): boolean {
  const by = recordedTemplate(record);
  if (!by || !templateOwner || templateOwner.isMarked) return false;
  return by.uid !== templateOwner.uid || by.generation < templateOwner.generation;
}

/** Whether annotations of its own, of whatever value, or the settings say when it is reloaded. */
function asks(owner: Owner, { keys, autoReloadAll }: OwnerSettings): boolean {
  const others = [
    keys.configMapExclude,
    keys.secretExclude,
    keys.secretProviderClassExclude,
    keys.pausePeriod,
    RELEASE_ANNOTATION,
  ];
  const own = [...Object.keys(owner.annotations), ...Object.keys(owner.podAnnotations)];
  return autoReloadAll || own.some((key) => !others.includes(key));
}
