import { keyOf } from '@reroll/core/model';
import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import { KubeError } from '@reroll/kube/client/errors';
import type { Consumer, ConvergenceReading, ReadSource } from '@reroll/kube/convergence/convergence-reading';
import type { SourceRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import { countsOf } from '../views/consumers.ts';
import { shortName } from '../views/names.ts';
import { readingOf } from './stale.ts';

export interface Awaited {
  readonly source: SourceRef;
  readonly timeoutMs: number;
  /** Seconds. */
  readonly delay: number;
}

export interface Convergence {
  readonly isConverged: boolean;
  /** As they were last seen. */
  readonly consumers: readonly Consumer[];
  /** Why they could not be seen at last. */
  readonly error?: KubeError | CliError | undefined;
}

/** The pause grows from half a second to five to ten: at most 125 rounds in ten minutes. */
const PAUSES = { baseMs: 1_000, maxMs: 10_000 };
const NONE = countsOf([]);

/**
 * Looks again and again until nothing but the current data is in use. An API server that cannot answer is asked again until the time
 * is over.
 * @throws at the first look, if it cannot succeed: the source does not exist, or may not be read
 */
export async function waitUntilConverged(session: Session, awaited: Awaited): Promise<Convergence> {
  const { io } = session;
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(awaited.timeoutMs)]);
  const reading = readingOf(session, awaited.delay, signal);
  const backoff = new Backoff(PAUSES);
  let last: Convergence = { isConverged: false, consumers: [] };
  let told = '';
  do {
    last = await look(reading, awaited.source, last);
    if (last.isConverged) return last;
    if (backoff.attempts === 0 && isFinal(last.error)) throw last.error;
    const counts = countsOf(last.consumers) + doubtOf(last.consumers);
    if (counts !== told && counts !== NONE) io.err(`${shortName(awaited.source)}: ${counts}\n`);
    told = counts;
    await pause(systemClock, backoff.next(), signal);
  } while (!signal.aborted);
  return last;
}

/** Why it is not known of some. */
function doubtOf(consumers: readonly Consumer[]): string {
  const reasons = new Set(consumers.filter(({ state }) => state === 'unknown').map(({ why }) => why));
  return reasons.size === 0 ? '' : ` (${[...reasons].join('; ')})`;
}

function isFinal(error: Convergence['error']): error is KubeError | CliError {
  return error instanceof KubeError ? !error.retryable : error !== undefined;
}

/**
 * The source is read before the pods, so that every pod from before its last write that still runs is among them, and again after
 * them, so that there is no later write.
 */
async function look(reading: ConvergenceReading, ref: SourceRef, before: Convergence): Promise<Convergence> {
  try {
    const source = await existing(reading, ref);
    const { using } = await reading.pods(
      ref.namespace,
      ({ kind, name }) => kind === ref.kind && name === ref.name,
    );
    const consumers = await reading.consumers(using, new Map([[keyOf(ref), source]]));
    const isCurrent = consumers.every(({ state }) => state === 'current');
    return { isConverged: isCurrent && rvOf(await existing(reading, ref)) === rvOf(source), consumers };
  } catch (error) {
    if (error instanceof KubeError && error.code === 'KUBE_ABORTED') return before;
    if (!(error instanceof KubeError || error instanceof CliError)) throw error;
    return { isConverged: false, consumers: before.consumers, error };
  }
}

async function existing(reading: ConvergenceReading, ref: SourceRef): Promise<ReadSource> {
  const source = await reading.source(ref);
  if (source.writes === 'absent')
    throw new CliError(`there is no ${shortName(ref)} in the namespace ${ref.namespace}`);
  if (source.writes === 'unreadable')
    throw new CliError(`you may not read ${shortName(ref)} in the namespace ${ref.namespace}`);
  return source;
}

function rvOf({ writes }: ReadSource): string | undefined {
  return typeof writes === 'string' ? undefined : writes.rv;
}
