import type { Owner, Scheduler } from '../scheduler.ts';
import { encodeReply, type Reply } from './replies.ts';
import { bytesOf, RequestReader } from './request-reader.ts';
import type { Session } from './session.ts';
import type { Peer, SimulatedSocket } from './simulated-socket.ts';

export type Args = readonly string[];

/** What happens to the commands that a connection sends together. */
export interface Delivery {
  /** Milliseconds until they arrive. */
  readonly before: number;
  /** Milliseconds that their replies take, or, if the fate is not `ok`, until the client sees that the connection is lost. */
  readonly after: number;
  /**
   * `ok`: they are carried out and answered. `lostRequest`: they do not arrive. `lostReply`: they are carried out, but the replies do
   * not arrive. In both cases nothing else arrives either, until the client sees that the connection is lost. `cut`: they do not
   * arrive, and the client sees it at once.
   */
  readonly fate: 'ok' | 'lostRequest' | 'lostReply' | 'cut';
}

export interface ConnectionContext {
  readonly scheduler: Scheduler;
  readonly owner: Owner;
  readonly session: Session;
  readonly deliveryOf: (commands: readonly Args[]) => Delivery;
  /** Runs a command; the reply may come later, by `onReply`, and is then answered in an event of its own. */
  readonly run: (args: Args, connection: ServerConnection) => Reply | undefined;
  readonly onClosed: (connection: ServerConnection) => void;
}

interface Batch {
  readonly commands: readonly Args[];
  readonly delivery: Delivery;
}

/** The server's end of a connection. Commands, and replies, stay in their order, whatever their latencies. */
export class ServerConnection implements Peer {
  readonly #context: ConnectionContext;
  readonly #socket: SimulatedSocket;
  readonly #reader = new RequestReader();
  /** Written since what runs now began. */
  #written: Args[] = [];
  readonly #underway: Batch[] = [];
  /** Arrived, and not yet carried out because a command before them waits. */
  readonly #arrived: { readonly args: Args; readonly after: number }[] = [];
  readonly #replies: string[] = [];
  #lastArrival = 0;
  #lastReply = 0;
  #isWaiting = false;
  #waitingAfter = 0;
  /** Nothing arrives any more, in either direction. */
  #isSilent = false;
  #isClosed = false;
  /** The client asked for the end, which it sees after the replies. */
  #isQuitting = false;

  constructor(socket: SimulatedSocket, context: ConnectionContext) {
    this.#socket = socket;
    this.#context = context;
  }

  get owner(): Owner {
    return this.#context.owner;
  }

  get session(): Session {
    return this.#context.session;
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#isSilent && this.owner.isAlive;
  }

  onData(data: string | Uint8Array): void {
    const commands = this.#reader.read(bytesOf(data));
    if (this.#written.length === 0 && commands.length > 0)
      // What was written leaves even if its process is killed right after.
      this.#context.scheduler.after(0, undefined, () => this.#send());
    this.#written.push(...commands);
  }

  onEnd(): void {
    this.#close();
  }

  /** The waiting command has its answer. */
  answer(reply: Reply): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#reply(encodeReply(reply), this.#waitingAfter);
    this.#carryOut();
  }

  /** The client sees after so many milliseconds that the connection is lost; until then nothing arrives. */
  cut(after = 0): void {
    if (this.#isClosed) return;
    this.#isSilent = true;
    this.#context.onClosed(this);
    this.#context.scheduler.after(after, this.owner, () => this.#socket.fail(connectionReset()));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#context.onClosed(this);
  }

  #send(): void {
    const commands = this.#written;
    this.#written = [];
    if (this.#isSilent) return;
    const delivery = this.#context.deliveryOf(commands);
    if (delivery.fate === 'cut' || delivery.fate === 'lostRequest') {
      this.cut(delivery.fate === 'cut' ? 0 : delivery.before + delivery.after);
      return;
    }
    const { scheduler } = this.#context;
    const now = scheduler.now();
    this.#lastArrival = Math.max(this.#lastArrival, now + delivery.before);
    this.#underway.push({ commands, delivery });
    if (this.#lastArrival === now && this.#underway.length === 1) this.#arrive();
    else scheduler.after(this.#lastArrival - now, undefined, () => this.#arrive());
  }

  #arrive(): void {
    const batch = this.#underway.shift();
    if (!batch || this.#isSilent) return;
    const { after, fate } = batch.delivery;
    if (fate === 'lostReply') this.cut(after);
    for (const args of batch.commands) this.#arrived.push({ args, after });
    this.#carryOut();
  }

  #carryOut(): void {
    let text = '';
    let latency = 0;
    while (this.#arrived.length > 0 && !this.#isWaiting) {
      const next = this.#arrived.shift();
      if (!next) break;
      const reply = this.#context.run(next.args, this);
      latency = Math.max(latency, next.after);
      if (next.args[0]?.toUpperCase() === 'QUIT') this.#isQuitting = true;
      if (reply === undefined) {
        this.#isWaiting = true;
        this.#waitingAfter = next.after;
      } else text += encodeReply(reply);
    }
    if (text !== '') this.#reply(text, latency);
  }

  #reply(text: string, after: number): void {
    if (this.#isSilent || this.#isClosed) return;
    const { scheduler } = this.#context;
    const now = scheduler.now();
    this.#lastReply = Math.max(this.#lastReply, now + after);
    this.#replies.push(text);
    scheduler.after(this.#lastReply - now, this.owner, () => this.#deliver());
  }

  #deliver(): void {
    const text = this.#replies.shift();
    if (text === undefined || this.#isSilent) return;
    this.#socket.receive(Buffer.from(text, 'latin1'));
    if (this.#isQuitting && this.#replies.length === 0) this.#socket.fail();
  }
}

export function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' });
}

export function connectionRefused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
    errno: -111,
    syscall: 'connect',
  });
}
