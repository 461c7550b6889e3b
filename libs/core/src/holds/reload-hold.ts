import { annotationOf } from '../annotations/annotation-keys.ts';
import type { Annotations } from '../model.ts';
import { recordedReloads } from '../record/record.ts';
import { readApproval } from './approval.ts';
import { freezeHold } from './freeze.ts';
import {
  APPROVAL_ANNOTATION,
  APPROVED_ANNOTATION,
  FREEZE_ALL_ANNOTATION,
  FREEZE_ANNOTATION,
  LIMIT_ANNOTATION,
  untilText,
  WINDOW_ANNOTATION,
  type NamespaceHolds,
  type ReloadHold,
} from './hold.ts';
import type { PassedHold } from './passed.ts';
import { nextReloadAt, readLimit, type ReloadLimit } from './reload-limit.ts';
import { readWindows, windowState } from './window.ts';

/** What the installation asks for where no annotation does. Each as the value of its annotation; undefined: nothing. */
export interface HoldDefaults {
  readonly window?: string | undefined;
  readonly approval?: string | undefined;
  readonly limit?: string | undefined;
  readonly waves?: string | undefined;
  readonly bake?: string | undefined;
  /** How many workloads are rolled out at once. */
  readonly rollouts?: number | undefined;
}

export interface HoldInput extends NamespaceHolds {
  /** Annotations of the workload. */
  readonly workload: Annotations;
  readonly defaults: HoldDefaults;
  /** The applied record, which has the times of reloads. */
  readonly record: string | undefined;
  /** See `pendingId`. Undefined: not known, so nothing counts as approved. */
  readonly id: string | undefined;
  /** Holds that do not count, because a manual reload passes them. Default none. */
  readonly passes?: readonly PassedHold[] | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** In the order in which they count, after freezes. */
const CHECKS = [
  ['OutsideWindow', outsideWindow],
  ['AwaitsApproval', awaitsApproval],
  ['TooOften', tooOften],
] as const;

/** Returns why a pending workload must not be reloaded now, a freeze or the first of the checks; undefined if it may. */
export function holdOf(input: HoldInput): ReloadHold | undefined {
  const freeze = frozen(input);
  if (freeze) return freeze;
  for (const [reason, check] of CHECKS) {
    const hold = input.passes?.includes(reason) ? undefined : check(input);
    if (hold) return hold;
  }
  return undefined;
}

/** The limit that counts for the workload; undefined if there is none. One that cannot be read leaves the next farther one in force. */
export function limitOf(
  input: Pick<HoldInput, 'workload' | 'namespace' | 'defaults'>,
): ReloadLimit | undefined {
  const texts = [
    annotationOf(input.workload, LIMIT_ANNOTATION),
    annotationOf(input.namespace, LIMIT_ANNOTATION),
    input.defaults.limit,
  ];
  for (const text of texts) {
    const reading = text === undefined ? undefined : readLimit(text);
    if (reading?.state === 'none') return undefined;
    if (reading?.state === 'read') return reading.limit;
  }
  return undefined;
}

/** A freeze counts wherever it is set; the one that ends last is reported. */
function frozen({ workload, namespace, installation, passes = [], now }: HoldInput): ReloadHold | undefined {
  const freezes = [
    ['The workload', annotationOf(workload, FREEZE_ANNOTATION), 'Frozen'],
    ['The namespace', annotationOf(namespace, FREEZE_ANNOTATION), 'Frozen'],
    ['The installation', annotationOf(installation, FREEZE_ALL_ANNOTATION), 'InstallationFrozen'],
  ] as const;
  const holds = freezes.flatMap(([where, text, pass]) =>
    text === undefined || passes.includes(pass) ? [] : (freezeHold(text, where, now) ?? []),
  );
  return holds.toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

function outsideWindow(input: HoldInput): ReloadHold | undefined {
  const text = nearest(input, WINDOW_ANNOTATION, input.defaults.window);
  const windows = text === undefined ? undefined : readWindows(text);
  if (windows === undefined || windows.state === 'always') return undefined;
  if (windows.state === 'unreadable') {
    const detail = `The window (${WINDOW_ANNOTATION}) cannot be read, so nothing is reloaded: ${windows.problem}`;
    return { reason: 'OutsideWindow', detail };
  }
  const { isOpen, until } = windowState(windows.windows, input.now);
  if (isOpen) return undefined;
  const closed = `The window ${JSON.stringify(text)} is closed`;
  return until === undefined
    ? { reason: 'OutsideWindow', detail: closed }
    : { reason: 'OutsideWindow', until, detail: `${closed} ${untilText(until)}` };
}

function awaitsApproval(input: HoldInput): ReloadHold | undefined {
  const { isRequired, problem } = readApproval(nearest(input, APPROVAL_ANNOTATION, input.defaults.approval));
  const { id } = input;
  if (!isRequired) return undefined;
  if (id !== undefined && annotationOf(input.workload, APPROVED_ANNOTATION) === id) return undefined;
  const advice =
    id === undefined
      ? `The workload waits until someone approves what is pending (${APPROVAL_ANNOTATION})`
      : `The pending reload has the id ${id}. It awaits approval by the annotation ${APPROVED_ANNOTATION}: "${id}"`;
  const detail =
    problem === undefined ? advice : `${advice}. ${APPROVAL_ANNOTATION} cannot be read: ${problem}`;
  return { reason: 'AwaitsApproval', detail };
}

function tooOften(input: HoldInput): ReloadHold | undefined {
  const limit = limitOf(input);
  if (limit === undefined) return undefined;
  const past = recordedReloads(input.record, input.now);
  const until = nextReloadAt(past, limit);
  if (until <= input.now) return undefined;
  const { length } = past.times.slice(-limit.count);
  const detail = `It was reloaded ${length} times since ${isoOf(past.times.at(-length))}, and waits ${untilText(until)}`;
  return { reason: 'TooOften', until, detail };
}

function isoOf(seconds = 0): string {
  return new Date(seconds * 1000).toISOString();
}

/** The annotation of the workload; otherwise of its Namespace; otherwise the default. */
function nearest(
  { workload, namespace }: Pick<HoldInput, 'workload' | 'namespace'>,
  key: string,
  otherwise: string | undefined,
): string | undefined {
  return annotationOf(workload, key) ?? annotationOf(namespace, key) ?? otherwise;
}
