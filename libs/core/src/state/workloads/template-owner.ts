import { ADOPTED_KEYS } from '../../adopted/adopted.ts';
import { typedKeys } from '../../annotations/annotation-keys.ts';
import { SOURCE_KINDS, type SourceKind, type WorkloadKey } from '../../model.ts';
import { recordedTemplate, type RecordedTemplate } from '../../record/record.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../../rv.ts';
import type { ObservedWorkload, WorkloadRow } from '../rows.ts';

/** Where a workload without its own pod template takes the template from. */
export interface TemplateFrom {
  /** In the same namespace; it may not exist. */
  readonly owner: WorkloadKey;
  /** A reload changes the owner's pod template, which then holds marker and record; otherwise the workload holds them. */
  readonly isMarkedThere: boolean;
  /** See `TemplateOwner.sharers`. */
  readonly sharers?: readonly WorkloadKey[] | undefined;
}

/** The owner of the pod template of another workload, as of the sighting. */
export interface TemplateOwner {
  readonly key: WorkloadKey;
  readonly uid: string;
  readonly generation: number;
  readonly rv: Rv;
  /** The owner, not the workload, holds marker and record. */
  readonly isMarked: boolean;
  /** The last write that changed the template, as far as the owner's row shows. */
  readonly templateRv?: Rv | undefined;
  /** The other followers whose record the owner holds: they and the workload share it. Only in rows, and absent if there are none. */
  readonly sharers?: readonly WorkloadKey[] | undefined;
}

type OwnerSettings = Pick<DecisionSettings, 'keys' | 'autoReloadAll'>;
/** The owner as observed, or its row in the cluster state. */
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
 * Joins a workload with the owner of its pod template, as if the template were its own. The workload's annotations count only if
 * the owner has no reload annotations. Otherwise the owner is reloaded, which reloads the workload too.
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
    excess: own.excess ?? (owner.excess?.inNamespace ? undefined : owner.excess),
    record: templateFrom.isMarkedThere ? owner.record : own.record,
    writtenAt: Math.max(own.writtenAt ?? 0, owner.writtenAt ?? 0),
    templateOwner: {
      key: templateFrom.owner,
      uid: owner.uid,
      generation: owner.generation,
      rv: owner.rv,
      templateRv: owner.templateRv,
      isMarked: templateFrom.isMarkedThere,
      sharers: templateFrom.sharers,
    },
  };
}

/** Returns the workload left alone if its row says that too many others follow its owner, which reading it does not show. */
export function withoutRoomOf<Seen extends ObservedWorkload>(row: WorkloadRow | undefined, seen: Seen): Seen {
  const isCrowded = row?.leftAlone === 'TooManyRollouts' && seen.templateOwner !== undefined;
  return isCrowded ? { ...seen, leftAlone: row.leftAlone } : seen;
}

/** Whether both describe the same state of the same owner, as far as a patch tests it. */
export function isSameOwner(a: TemplateOwner | undefined, b: TemplateOwner | undefined): boolean {
  return a?.key === b?.key && a?.uid === b?.uid && a?.generation === b?.generation;
}

/** Returns the workloads that share its record. */
export function sharersOf(
  workload: Pick<ObservedWorkload, 'templateOwner'> | undefined,
): readonly WorkloadKey[] {
  return workload?.templateOwner?.sharers ?? [];
}

/**
 * Returns the workloads for whose reloads a correction of its record waits: none in a dry run, which does not write it, and none if the
 * workload is reloaded, because that rollout is one of all of them.
 */
export function awaitedSharers(
  workload: Parameters<typeof sharersOf>[0],
  { dryRun, isReloaded }: { readonly dryRun: boolean; readonly isReloaded: boolean },
): readonly WorkloadKey[] {
  return dryRun || isReloaded ? [] : sharersOf(workload);
}

/** Whether a sighting shows a later write than `known`, of the workload or of its template's owner. */
export function isLaterSighting(seen: ObservedWorkload, known: WorkloadRow): boolean {
  if (seen.rv !== known.rv) return isNewer(seen.rv, known.rv);
  const [now, before] = [seen.templateOwner, known.templateOwner];
  if (now?.uid !== before?.uid) return true;
  return now !== undefined && before !== undefined && isNewer(now.rv, before.rv);
}

/**
 * Returns the resourceVersion of the write behind a live sighting. Each of the two objects has its stream, so one of the two has
 * moved.
 */
export function writeSeen(seen: ObservedWorkload, known: WorkloadRow | undefined): Rv {
  const isOwn = !known || isNewer(seen.rv, known.rv);
  return isOwn ? seen.rv : (seen.templateOwner?.rv ?? seen.rv);
}

/** `writeSeen` for a sighting with another template. The template of a new owner may be newer than the write that selected it. */
export function templateWriteSeen(seen: ObservedWorkload, known: WorkloadRow | undefined): Rv {
  const { key, templateRv = RV_UNKNOWN } = seen.templateOwner ?? {};
  const write = writeSeen(seen, known);
  return known?.templateOwner?.key === key ? write : maxRv(write, templateRv);
}

/** Whether no template of the workload has been seen, because it has not followed its owner so far. */
function hasNeverFollowed({ leftAlone, templateOwner }: WorkloadRow): boolean {
  return leftAlone === 'TooManyRollouts' && !templateOwner;
}

/** Returns the resourceVersion up to which the workload and its template's owner are known. */
export function knownUpTo(known: WorkloadRow): Rv {
  const { rv, templateRv, templateOwner } = known;
  if (hasNeverFollowed(known)) return templateRv;
  return templateOwner && isNewer(rv, templateOwner.rv) ? templateOwner.rv : rv;
}

/** Returns a lower bound of the unseen write since `known` that changed the template or restarted the pods. */
export function rolledAfter(known: WorkloadRow, seen: ObservedWorkload): Rv {
  if (hasNeverFollowed(known)) return RV_UNKNOWN;
  const isRestarted = (seen.restartAt ?? 0) > (known.restartAt ?? 0);
  const isRetargeted = seen.templateOwner?.key !== known.templateOwner?.key;
  return isRestarted || isRetargeted ? known.rv : (known.templateOwner?.rv ?? known.rv);
}

/** Returns what the record must hold of the template's owner, because a patch of one object cannot test the other. */
export function decidedBy({
  templateOwner,
}: Pick<ObservedWorkload, 'templateOwner'>): RecordedTemplate | undefined {
  return templateOwner && !templateOwner.isMarked ? templateOwner : undefined;
}

/** Whether the record was decided by an earlier state of the template's owner, or by another owner. */
export function isDecidedBefore({ record, templateOwner }: ObservedWorkload): boolean {
  const by = recordedTemplate(record);
  if (!by || !templateOwner || templateOwner.isMarked) return false;
  return by.uid !== templateOwner.uid || by.generation < templateOwner.generation;
}

/**
 * Whether the record on the template's owner may have been written before the pods began, although it is shown only now: the two
 * objects have two streams.
 */
export function isRecordedBefore(seen: ObservedWorkload, known: WorkloadRow, live: boolean): boolean {
  const owner = (live ? seen : known).templateOwner;
  return owner?.isMarked === true && isNewer(known.templateRv, owner.rv);
}

/** Whether the owner's annotations, whatever their values, or the settings decide when it is reloaded. Holds decide nothing. */
function asks(owner: Owner, { keys, autoReloadAll }: OwnerSettings): boolean {
  const asking = new Set([keys.auto, keys.search, ...SOURCE_KINDS.flatMap(kindKeys), ...ADOPTED_KEYS]);
  const own = [...Object.keys(owner.annotations), ...Object.keys(owner.podAnnotations)];
  return autoReloadAll || own.some((key) => asking.has(key));

  function kindKeys(kind: SourceKind): string[] {
    const { auto, reload } = typedKeys(keys, kind);
    return [auto, reload];
  }
}
