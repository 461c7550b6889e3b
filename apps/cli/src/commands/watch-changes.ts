import { compareIds } from '@reroll/core/history/stream-id';
import { keyOf } from '@reroll/core/model';
import { sourceKeyIn } from '@reroll/core/state/rows';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { InputOf } from '../api/operation.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { adminEvents, type AdminEvent } from '../api/event-stream.ts';
import { listed } from '../api/pages.ts';
import { paintFor, toneOf } from '../output/color.ts';
import { jsonLine } from '../output/document.ts';
import { safeText } from '../output/safe-text.ts';
import { table, toned, type Column } from '../output/table.ts';
import type { Session } from '../session.ts';
import { ROLLOUT_STATES, ToldChanges } from './told-changes.ts';
import { changeNamespace, sourceText, statesCell } from '../views/changes.ts';
import { shortKey, shortName } from '../views/names.ts';

export type ChangesQuery = NonNullable<InputOf<'listChanges'>['query']>;

export interface WatchOptions {
  readonly query: ChangesQuery;
  /** Number of past changes to show first, and to follow after a gap; undefined: all. */
  readonly limit: number | undefined;
  /** Shows none of them. */
  readonly isWatchOnly: boolean;
  readonly asJson: boolean;
}

interface Line {
  readonly at: string;
  readonly namespace: string;
  readonly source: string;
  readonly workload: string;
  readonly state: string;
  readonly why: string;
}

/** Lines come one by one, so columns have a fixed width; longer text shifts the rest of its line. */
const WIDTHS = { at: 20, namespace: 14, source: 26, workload: 26, state: 12 } as const;

const COLUMNS: readonly Column<Line>[] = [
  { title: 'TIME'.padEnd(WIDTHS.at), cell: ({ at }) => at.padEnd(WIDTHS.at) },
  {
    title: 'NAMESPACE'.padEnd(WIDTHS.namespace),
    cell: ({ namespace }) => filled(namespace, WIDTHS.namespace),
  },
  { title: 'SOURCE'.padEnd(WIDTHS.source), cell: ({ source }) => filled(source, WIDTHS.source) },
  { title: 'WORKLOAD'.padEnd(WIDTHS.workload), cell: ({ workload }) => filled(workload, WIDTHS.workload) },
  {
    title: 'STATE'.padEnd(WIDTHS.state),
    cell: ({ state }) => toned(filled(state, WIDTHS.state), toneOf(state)),
  },
  { title: 'REASON', cell: ({ why }) => why },
];

function filled(text: string, width: number): string {
  return (text === '' ? '<none>' : text).padEnd(width);
}

/**
 * Prints past changes, oldest first, then new ones until Ctrl-C, each exactly once. After a gap in the stream, also
 * those whose workloads have other states by now.
 */
export async function watchChanges(session: Session, options: WatchOptions): Promise<ExitCode> {
  const { io } = session;
  const { query, limit } = options;
  const api = await session.admin();
  const printer = new Printer(session, options.asJson);
  const { signal } = io;
  const events = adminEvents({
    api,
    namespace: query.namespace,
    signal,
    // Opens the stream before it requests the list, so that the stream has what happens in between.
    onConnected: (again) => (again ? io.err('Connected again.\n') : connected.resolve()),
    onLost: (why) => io.err(`Lost the admin (${safeText(why)}); trying again.\n`),
  });
  const connected = Promise.withResolvers<void>();
  const first = events.next();
  await Promise.race([connected.promise, first]);
  const { items, more } = await listed(api, 'listChanges', { query, limit });
  printer.past(items, options.isWatchOnly);
  const oldest = (more && items.at(-1)?.id) || '0-0';
  const isPast = ({ id }: ChangeSummary): boolean => compareIds(id, oldest) < 0;
  const filter = new Filter(query);
  for (let next = await first; next.done !== true;) {
    if (next.value.event === 'reset') {
      io.err('The admin no longer has all that happened since; the list again:\n');
      printer.past((await listed(api, 'listChanges', { query, limit: undefined, isPast })).items);
    } else if (next.value.event !== 'audit') {
      printer.event(next.value, filter.wants(next.value));
    }
    next = await events.next();
  }
  return EXIT.interrupted;
}

/** Workloads of which the rollouts are awaited: some, as Jobs that are deleted, tell of none. */
const MOST_AWAITED = 10_000;

/** Applies the list's filters, which the stream does not have. */
class Filter {
  readonly #query: ChangesQuery;
  /** Workloads of wanted outcomes, until their rollouts are complete: a rollout has neither a source nor a cause. */
  readonly #awaited = new Set<string>();

  constructor(query: ChangesQuery) {
    this.#query = query;
  }

  wants(event: Shown): boolean {
    if (event.event === 'change') return this.#wantsChange(event.data);
    if (event.event === 'outcome') return this.#wantsOutcome(event.data);
    const key = keyOf(event.data.workload);
    const { state } = event.data.rollout;
    const { source, cause } = this.#query;
    const isOfChange = (source === undefined && cause === undefined) || this.#awaited.has(key);
    if (state === 'complete') this.#awaited.delete(key);
    return isOfChange && this.#isAbout(key, ROLLOUT_STATES[state]);
  }

  #wantsOutcome(outcome: Data<'outcome'>): boolean {
    const key = keyOf(outcome.workload);
    const isRolled = this.#isRolled(outcome);
    const isOfChange = this.#isOf(outcome, isRolled);
    const isCause = isRolled || this.#query.source === undefined;
    if (isOfChange && isCause && outcome.state === 'reloaded') this.#await(key);
    return isOfChange && this.#isAbout(key, outcome.state);
  }

  #await(key: string): void {
    // To the end.
    this.#awaited.delete(key);
    this.#awaited.add(key);
    const [oldest] = this.#awaited;
    if (oldest !== undefined && this.#awaited.size > MOST_AWAITED) this.#awaited.delete(oldest);
  }

  /** Its workloads come with their outcomes. */
  #wantsChange(change: ChangeSummary): boolean {
    const { workload, state } = this.#query;
    return (
      workload === undefined && this.#isOf(change) && (state === undefined || (change.states[state] ?? 0) > 0)
    );
  }

  /** `isRolled`: whether the source caused it, together with that of the change which is named. */
  #isOf(of: Pick<Data<'outcome'>, 'source' | 'cause'>, isRolled = false): boolean {
    const { source, cause } = this.#query;
    return (
      (source === undefined || isRolled || (of.source !== null && keyOf(of.source) === source)) &&
      (cause === undefined || of.cause === cause)
    );
  }

  #isRolled({ workload: { namespace }, rolled }: Data<'outcome'>): boolean {
    return rolled.some((name) => sourceKeyIn(namespace, name) === this.#query.source);
  }

  #isAbout(key: string, of: string | undefined): boolean {
    const { workload, state } = this.#query;
    return (workload === undefined || key === workload) && (state === undefined || of === state);
  }
}

type Shown = Exclude<AdminEvent, { readonly event: 'reset' | 'audit' }>;

class Printer {
  readonly #session: Session;
  readonly #asJson: boolean;
  readonly #told = new ToldChanges();
  #isBegun = false;

  constructor(session: Session, asJson: boolean) {
    this.#session = session;
    this.#asJson = asJson;
  }

  /** A list, newest first: what is new in it. */
  past(changes: readonly ChangeSummary[], isSilent = false): void {
    for (const change of changes.toReversed())
      if (this.#told.add(change) && !isSilent) this.#printChange(change);
  }

  event(event: Shown, isWanted: boolean): void {
    if (event.event === 'change') return this.#change(event.data, isWanted);
    this.#told.follow(event);
    if (!isWanted) return;
    if (event.event === 'outcome') this.#print(event, lineOfOutcome(event.data));
    else this.#print(event, lineOfRollout(event.data));
  }

  /** One that is not wanted is noted, too: its outcomes may be. */
  #change(change: ChangeSummary, isWanted: boolean): void {
    if (this.#told.isPrinted(change.id)) return;
    this.#told.add(change);
    if (isWanted) this.#printChange(change);
  }

  #printChange(change: ChangeSummary): void {
    this.#told.notePrinted(change.id);
    this.#print({ event: 'change', data: change }, lineOfChange(change));
  }

  #print(event: { readonly event: string; readonly data: unknown }, line: Line): void {
    const { io } = this.#session;
    if (this.#asJson) return io.out(jsonLine({ event: event.event, data: event.data }));
    const options = { paint: paintFor(io, io.outIsTerminal), titles: !this.#isBegun };
    io.out(table(COLUMNS, [line], options));
    this.#isBegun = true;
  }
}

type Data<Name extends Shown['event']> = Extract<Shown, { readonly event: Name }>['data'];

function lineOfChange(change: Data<'change'>): Line {
  return {
    at: seconds(change.seenAt),
    namespace: changeNamespace(change),
    source: sourceText(change),
    workload: statesText(change),
    state: change.cause,
    why: change.request?.reason ?? `change ${change.id}`,
  };
}

function statesText(change: ChangeSummary): string {
  const states = statesCell(change);
  return typeof states === 'string' ? states : states.text;
}

function lineOfOutcome(entry: Data<'outcome'>): Line {
  const { source, rolled } = entry;
  return {
    at: seconds(entry.at),
    namespace: entry.workload.namespace,
    source: source === null ? rolled.map(shortKey).join(',') : shortName(source),
    workload: shortName(entry.workload),
    state: entry.state,
    why: entry.error === null ? entry.reason : `${entry.reason}: ${entry.error}`,
  };
}

function lineOfRollout({ workload, at, rollout }: Data<'rollout'>): Line {
  return {
    at: seconds(at),
    namespace: workload.namespace,
    source: '',
    workload: shortName(workload),
    state: ROLLOUT_STATES[rollout.state] ?? rollout.state,
    why: rollout.code,
  };
}

/** The time without milliseconds. */
function seconds(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}
