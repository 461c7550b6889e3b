import { namespaceOf, partsOf } from '@reroll/core/model';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventName, EVENTS } from '@reroll/shared/api/events';
import type { Positions } from '@reroll/redis/history/history-reader';
import type { Rollout } from '@reroll/core/history/join';
import { stateOf } from '@reroll/core/history/states';
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Cursors } from '../http/cursors.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { auditView, namespaceOfTarget, seesAudit, type Seeing } from '../steering/audit-view.ts';
import { timeOf } from '../time-of.ts';
import { canResume, happenedAfter, readPositions, writePositions, type Happened } from './event-source.ts';
import type { EventWriter } from './event-writer.ts';
import { PacedNamespaces } from './paced-namespaces.ts';
import type { ReadModel } from './read-model.ts';
import { changeSummary, outcomeEvent, rolloutView } from './views.ts';

export interface EventStreamContext {
  readonly model: ReadModel;
  readonly hashes: ShownHashes;
  readonly cursors: Cursors;
  readonly caller: Caller;
  /** Limits the stream to this namespace. */
  readonly namespace: string | undefined;
  readonly writer: EventWriter;
  /** Fires when the client disconnects, and at shutdown. */
  readonly signal: AbortSignal;
}

type StreamEnd = 'gone' | 'right';

/** Milliseconds between heartbeats, and the longest time between two checks of the caller's rights. */
const HEARTBEAT = 15_000;
/** Entries between two checks of the caller's rights. */
const PORTION = 100;
const AUDIT = { method: 'get', path: '/api/v1/audit', writes: false } as const;
const EVENTS_ACCESS = { method: 'get', path: '/api/v1/events', writes: false } as const;

/** Sends server-sent events to one caller: the history in memory, at the reader's pace. Nothing is queued. */
export class EventStream {
  readonly #context: EventStreamContext;
  readonly #namespaces: PacedNamespaces;
  #contents: ReadModel['contents'];
  /** The position after everything that was sent or is not for this reader; a heartbeat sends it at any time. */
  #positions: Positions;

  constructor(context: EventStreamContext) {
    this.#context = context;
    const { caller, signal } = context;
    const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
    this.#namespaces = new PacedNamespaces({ caller, pause });
    this.#contents = context.model.contents;
    this.#positions = this.#contents.positions;
  }

  /** `lastEventId`: the last event that the caller saw. Rejects if a check of rights or a write fails. */
  async run(lastEventId: string | undefined): Promise<StreamEnd> {
    const { writer, signal } = this.#context;
    const isCut = this.#resume(lastEventId);
    await writer.begin(this.#id);
    if (isCut) await this.#reset('entries since the last event are not there any more');
    const over = new AbortController();
    try {
      return await Promise.race([this.#follow(), this.#beat(AbortSignal.any([signal, over.signal]))]);
    } finally {
      over.abort();
    }
  }

  async #follow(): Promise<StreamEnd> {
    const { signal } = this.#context;
    while (!signal.aborted) {
      if (!(await this.#isStillLetIn())) return 'right';
      await this.#goOn();
    }
    return 'gone';
  }

  /**
   * Sends heartbeats at fixed times since the stream began, so that their times and ids reveal nothing that the reader
   * may not see. Rejects if one cannot be written; else never settles.
   */
  #beat(end: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
      const timer = setInterval(() => void this.#context.writer.beat(this.#id).catch(reject), HEARTBEAT);
      end.addEventListener('abort', () => clearInterval(timer), { once: true });
      if (end.aborted) clearInterval(timer);
    });
  }

  /** Checked each time: a stream outlasts the token and the right with which it began. */
  async #isStillLetIn(): Promise<boolean> {
    const { caller } = this.#context;
    return (await caller.isKnown()) && (await caller.mayRequest(EVENTS_ACCESS));
  }

  async #goOn(): Promise<void> {
    const { model } = this.#context;
    if (this.#contents !== model.contents) {
      this.#contents = model.contents;
      this.#positions = this.#contents.positions;
      await this.#reset('the history was read again');
    }
    const happened = happenedAfter(this.#contents, this.#positions, PORTION);
    await this.#send(happened);
    if (happened.length === 0) await this.#more();
  }

  get #id(): string {
    return this.#idAt(this.#positions);
  }

  #idAt(positions: Positions): string {
    return this.#context.cursors.seal(writePositions(positions));
  }

  /** True if entries may be missing: also if the id was not sealed by an admin, or with an earlier secret. */
  #resume(lastEventId: string | undefined): boolean {
    if (lastEventId === undefined || lastEventId === '') return false;
    const positions = readPositions(this.#context.cursors.open(lastEventId) ?? '');
    if (!positions || !canResume(this.#contents, positions)) return true;
    this.#positions = positions;
    return false;
  }

  async #reset(reason: string): Promise<void> {
    await this.#context.writer.send(this.#id, 'reset', { reason } satisfies EventOf<'reset'>);
  }

  async #send(happened: readonly Happened[]): Promise<void> {
    const { caller, writer, signal } = this.#context;
    if (happened.length === 0) return;
    const listsAudit = happened.some(({ name }) => name === 'audit') && (await caller.mayRequest(AUDIT));
    for (const each of happened) {
      if (signal.aborted) return;
      // In their order, at the reader's pace.
      const isFor = (each.name !== 'audit' || listsAudit) && (await this.#isFor(each));
      const sent = isFor && writer.send(this.#idAt(each.positions), each.name, this.#view(each));
      // The entry is written, though perhaps not read yet: a heartbeat in between must have neither an earlier nor a
      // later id.
      this.#positions = each.positions;
      await sent;
    }
  }

  async #isFor(happened: Happened): Promise<boolean> {
    const { caller, namespace } = this.#context;
    if (happened.name === 'audit') {
      const { entry } = happened.row;
      const isWanted = namespace === undefined || namespaceOfTarget(entry) === namespace;
      return isWanted && (await seesAudit(caller, await this.#seeing(), entry)) === true;
    }
    const where = namespaceIn(happened);
    return (namespace === undefined || where === namespace) && (await this.#namespaces.sees(where));
  }

  async #seeing(): Promise<Seeing> {
    return { all: await this.#namespaces.all(), sees: (where) => this.#namespaces.sees(where) };
  }

  #view(happened: Happened): EventOf<EventName> {
    if (happened.name === 'change')
      return changeSummary(happened.row, { hashes: this.#context.hashes, stateOf });
    if (happened.name === 'outcome') return outcomeEvent(happened.row);
    return happened.name === 'rollout' ? rolloutEvent(happened.row) : auditView(happened.row);
  }

  #isBehind(): boolean {
    const { contents } = this.#context.model;
    return contents !== this.#contents || happenedAfter(contents, this.#positions, 1).length > 0;
  }

  /** Resolves when there may be more entries, or rights must be checked again. */
  #more(): Promise<void> {
    const { model, signal } = this.#context;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        stop();
        resolve();
      };
      const stop = model.onChange(done);
      const timer = setTimeout(done, HEARTBEAT);
      signal.addEventListener('abort', done);
      if (signal.aborted || this.#isBehind()) done();
    });
  }
}

function rolloutEvent({ entry }: Rollout): EventOf<'rollout'> {
  return { workload: partsOf(entry.workload), at: timeOf(entry.at), rollout: rolloutView(entry) };
}

type EventOf<Name extends keyof typeof EVENTS> = z.output<(typeof EVENTS)[Name]>;

function namespaceIn(happened: Exclude<Happened, { name: 'audit' }>): string {
  return happened.name === 'change' ? happened.row.namespace : namespaceOf(happened.row.entry.workload);
}
