import type { EventHandler, ShownBy } from '../reflector/delivery.ts';
import type { KubeObject } from '../objects.ts';
import { Reflector, type ReflectorHooks, type ReflectorOptions } from '../reflector/reflector.ts';
import { Waiting } from './waiting.ts';

export interface Entry {
  readonly name: string;
  readonly value: string | undefined;
}

/** A minimal handler: the existing objects, and every call in order. */
export class Following implements EventHandler<Entry> {
  readonly told: string[] = [];
  readonly present = new Map<string, string | undefined>();
  readonly waiting = new Waiting();
  unread: readonly string[] = [];
  #listed = new Set<string>();

  replace(): void {
    this.#listed = new Set();
    this.#tell('list');
  }

  upsert(objects: readonly Entry[], by: ShownBy): void | Promise<void> {
    const [first] = objects;
    return by === 'list' || !first ? this.listed(objects) : this.changed(first, by);
  }

  delete(entry: Entry): void | Promise<void> {
    return this.changed(entry, 'DELETED');
  }

  protected listed(objects: readonly Entry[]): void | Promise<void> {
    for (const { name, value } of objects) {
      this.#listed.add(name);
      this.present.set(name, value);
    }
    this.#tell(`listed ${objects.length}`);
  }

  synced(_resourceVersion: string, unread: readonly string[]): void {
    this.unread = unread;
    for (const name of this.present.keys()) if (!this.#listed.has(name)) this.present.delete(name);
    this.#tell('end');
  }

  protected changed({ name, value }: Entry, type: string): void | Promise<void> {
    if (type === 'DELETED') this.present.delete(name);
    else this.present.set(name, value);
    this.#tell(`${type} ${name}=${value}`);
  }

  /** Resolves as soon as exactly these objects exist. */
  async has(expected: Readonly<Record<string, string>>): Promise<void> {
    const wanted = JSON.stringify(sorted(Object.entries(expected)));
    const describe = (): string => JSON.stringify(sorted([...this.present]));
    await this.waiting.until(
      () => describe() === wanted,
      () => `${wanted}, given ${describe()}`,
    );
  }

  #tell(what: string): void {
    this.told.push(what);
    this.waiting.look();
  }
}

function sorted<T extends readonly [string, unknown]>(entries: T[]): T[] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Every call of a reflector's hooks, as short words. */
export class Reports implements ReflectorHooks {
  readonly seen: string[] = [];
  readonly waiting = new Waiting();

  onRelist(reason: string): void {
    this.#add(`relist ${reason}`);
  }

  onListed({ objects, streamed }: { objects: number; streamed: boolean }): void {
    this.#add(`listed ${objects} ${streamed ? 'streamed' : 'paged'}`);
  }

  onReconnect(reason: string): void {
    this.#add(`reconnect ${reason}`);
  }

  onFailure(error: { code: string; status: number }): void {
    this.#add(`failure ${error.status || error.code}`);
  }

  onHandlerError({ key, step, errorClass }: { key: string; step: string; errorClass: string }): void {
    this.#add(`${errorClass} in ${step} ${key}`.trim());
  }

  onSynced(synced: boolean): void {
    this.#add(synced ? 'synced' : 'not synced');
  }

  async has(report: string): Promise<void> {
    await this.waiting.until(
      () => this.seen.includes(report),
      () => `${report}, given ${this.seen.join(', ')}`,
    );
  }

  #add(report: string): void {
    this.seen.push(report);
    this.waiting.look();
  }
}

/** Reduces a ConfigMap to its key `v`. */
export function entryOf(raw: KubeObject): Entry {
  return { name: raw.metadata.name, value: (raw as { data?: Record<string, string> }).data?.['v'] };
}

export type FollowOptions = Pick<ReflectorOptions<Entry>, 'client' | 'path'> &
  Partial<ReflectorOptions<Entry>> & { readonly handler?: Following };

export interface Follower {
  readonly seen: Following;
  readonly reports: Reports;
  readonly reflector: Reflector<Entry>;
}

/** Starts a reflector over ConfigMaps with a fast back-off. */
export function follow(options: FollowOptions): Follower {
  const reports = new Reports();
  const seen = options.handler ?? new Following();
  const backoff = { baseMs: 50, maxMs: 500 };
  const reflector = new Reflector({ convert: entryOf, hooks: reports, backoff, ...options, handler: seen });
  reflector.start();
  return { seen, reports, reflector };
}
