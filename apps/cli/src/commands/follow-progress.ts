import { keyOf } from '@reroll/core/model';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import type { Io } from '../io.ts';
import type { CliError } from '../errors.ts';
import { humanDuration } from '../output/age.ts';
import { paintFor, toneOf, type Paint } from '../output/color.ts';
import { safeText } from '../output/safe-text.ts';
import { table, toned, type Column } from '../output/table.ts';
import { workloadDetail } from '../views/changes.ts';
import { fullName, shortName } from '../views/names.ts';
import { wavesText } from '../views/waves.ts';
import type { Seen } from './follow-change.ts';
import { ENDS } from './follow-ends.ts';

/** On a terminal, a table that is drawn again at each look; else one line for each step of each workload. */
export class FollowProgress {
  readonly #io: Io;
  readonly #paint: Paint;
  readonly #began: number;
  /** The last step that was told of each workload, by its key. */
  readonly #told = new Map<string, string>();
  #last: { readonly seen: Seen; readonly at: number } | undefined;
  /** Without a terminal: the outage was told. */
  #isLost = false;

  constructor(io: Io) {
    this.#io = io;
    this.#paint = paintFor(io, io.errIsTerminal);
    this.#began = io.now();
  }

  tell(seen: Seen): void {
    this.#last = { seen, at: this.#io.now() };
    if (this.#io.redraw !== undefined) {
      const after = humanDuration(this.#io.now() - this.#began);
      return this.#io.redraw(this.#frame(seen, `${after} so far; Ctrl-C stops watching, not the reload`));
    }
    this.#isLost = false;
    for (const workload of seen.workloads) this.#tellStep(workload);
  }

  /** After the first look that told something: that what is shown is not current, in the table, or in one line for each outage. */
  lost({ message }: CliError): void {
    if (this.#last === undefined) return;
    const { seen, at } = this.#last;
    const notice = `The admin cannot tell at the moment: ${safeText(message)}`;
    const old = humanDuration(this.#io.now() - at);
    if (this.#io.redraw !== undefined) {
      return this.#io.redraw(this.#frame(seen, `State of ${old} ago. ${notice}`));
    }
    if (!this.#isLost) this.#io.err(`${notice}\n`);
    this.#isLost = true;
  }

  #frame({ workloads, waves }: Seen, lastLine: string): string {
    const now = this.#io.now();
    const paint = this.#paint;
    if (workloads.length === 0) {
      return `The admin has not seen the workload of the change yet\n${paint(lastLine, 'quiet')}\n`;
    }
    const plan = waves === undefined ? '' : wavesText(waves, { now, paint });
    const shown = table(columns(now, waves), unfinishedFirst(workloads), { paint });
    return `${plan}${plan === '' ? '' : '\n'}${shown}${paint(lastLine, 'quiet')}\n`;
  }

  #tellStep(each: ChangeWorkload): void {
    const { state } = each;
    const pods = podsText(each);
    const step = state === 'reloaded' && pods !== '' ? `${state} ${pods}` : state;
    const key = keyOf(each.workload);
    // What holds it may be known later than that it is held, or change.
    const told = state === 'held' ? `${step} ${each.outcome}` : step;
    if (told === this.#told.get(key)) return;
    this.#told.set(key, told);
    const now = this.#io.now();
    const shown = this.#paint(safeText(step), toneOf(state));
    const after = humanDuration(now - this.#began);
    this.#io.err(`${fullName(each.workload)} ${shown} (${safeText(why(each, now))}) after ${after}\n`);
  }
}

/** What a terminal has no room for is left out at the end. */
function unfinishedFirst(workloads: readonly ChangeWorkload[]): readonly ChangeWorkload[] {
  const isDone = ({ state }: ChangeWorkload): boolean => ENDS[state] !== undefined;
  return workloads.toSorted((a, b) => Number(isDone(a)) - Number(isDone(b)));
}

function columns(now: number, waves: Seen['waves']): readonly Column<ChangeWorkload>[] {
  return [
    { title: 'WORKLOAD', cell: ({ workload }) => shortName(workload) },
    { title: 'STATE', cell: ({ state }) => toned(state, toneOf(state)) },
    { title: 'PODS', cell: podsText },
    { title: 'REASON', cell: (each) => why(each, now, waves) },
  ];
}

/** `1/3 updated, 2 ready`. */
function podsText({ rollout }: ChangeWorkload): string {
  if (rollout?.desired === undefined) return '';
  return `${rollout.updated ?? 0}/${rollout.desired} updated, ${rollout.ready ?? 0} ready`;
}

function why(each: ChangeWorkload, now: number, waves?: Seen['waves']): string {
  const detail = workloadDetail(each, now, waves);
  return [each.outcome ?? each.reason, ...(detail === '' ? [] : [detail])].join(': ');
}
