/** Which changes were posted, where changes are posted and nothing is reloaded. */
import { letterOf } from './objects.ts';
import { keyOf, NAMESPACES, type KubeObject, type Letter } from './shapes.ts';
import type { Commit } from './commit.ts';
import { ON_ITS_WAY } from './unseen-changes.ts';

type State = Letter | 'gone';

interface Source {
  /** What was posted last, or was there at the start. `undefined`: nobody can tell. */
  told: State | undefined;
  now: State;
  due: 'no' | 'may' | 'must';
  writtenAt: number;
  /** Posts that come again. */
  unanswered: number;
}

export interface WebhooksBy {
  readonly now: () => number;
  readonly isWatched: (source: KubeObject) => boolean;
  /** Virtual milliseconds after which whatever had to be posted has been. */
  readonly settledWithin: number;
  /** A leader sees every event. One that finds a creation or a deletion by a list, or in the catalog, does not post it. */
  readonly isSeenAsItComes: boolean;
  /** Whether creations, and deletions, are posted. */
  readonly creations: boolean;
  readonly deletions: boolean;
}

export class Webhooks {
  readonly #by: WebhooksBy;
  readonly #sources = new Map<string, Source>();
  #doubtAt = -Infinity;

  constructor(by: WebhooksBy) {
    this.#by = by;
  }

  commit({ before, after }: Commit): void {
    const object = after ?? before;
    if (!object || !isTeamSource(object)) return;
    const [from, to] = [stateOf(before), stateOf(after)];
    if (from === to) return;
    const source = this.#of(keyOf(object), from);
    this.#settle(source);
    source.now = to;
    source.writtenAt = this.#by.now();
    source.due = this.#dueOf(source, from);
    if (!this.#by.isWatched(object)) source.due = 'may';
  }

  /** What was not posted yet may be as it was when the watchers began. */
  doubt(): void {
    this.#doubtAt = this.#by.now();
    for (const source of this.#sources.values()) {
      source.told = undefined;
      source.due = 'may';
    }
  }

  /** Returns what is wrong with the post. One that is not answered is repeated. */
  posted(body: string, isAnswered: boolean): string | undefined {
    const { kind, namespace, name } = JSON.parse(body) as Record<string, string>;
    // What is known of a class comes from several statuses.
    if (kind === 'SecretProviderClass') return undefined;
    const source = this.#sources.get(`${kind}/${namespace}/${name}`);
    if (!source) return `a post of ${kind}/${namespace}/${name}, which has not changed`;
    const isSure = source.writtenAt < this.#by.now() - ON_ITS_WAY;
    const isRepeated = source.due === 'no' && source.unanswered > 0;
    const isDouble = source.due === 'no' && !isRepeated;
    source.unanswered += (isAnswered ? 0 : 1) - (isRepeated ? 1 : 0);
    source.told = isSure ? source.now : undefined;
    source.due = isSure ? 'no' : 'may';
    return isDouble ? `a post of ${kind}/${namespace}/${name}, for which nothing was due` : undefined;
  }

  /** Returns what was never posted. */
  missing(): string[] {
    return [...this.#sources]
      .filter(([, { due }]) => due === 'must')
      .map(([key, { now }]) => `${key} is ${now} now, and nobody was told`);
  }

  #settle(source: Source): void {
    const { now, settledWithin } = this.#by;
    if (Math.max(source.writtenAt, this.#doubtAt) > now() - settledWithin || source.due === 'must') return;
    source.told = source.now;
    source.due = 'no';
  }

  #dueOf({ told, now, due }: Source, from: State): Source['due'] {
    const { creations, isSeenAsItComes } = this.#by;
    // What comes back may have other data than what was there before, and the first that is seen of it may be a later write.
    const isUnsure = (from === 'gone' || told === 'gone') && !(creations && isSeenAsItComes);
    if (isUnsure || told === undefined) return 'may';
    if (now !== told && this.#isPosted(from, now)) return 'must';
    return due === 'no' ? 'no' : 'may';
  }

  #isPosted(from: State, to: State): boolean {
    const { isSeenAsItComes, creations, deletions } = this.#by;
    if (from === 'gone') return isSeenAsItComes && creations;
    return to !== 'gone' || (isSeenAsItComes && deletions);
  }

  #of(key: string, state: State): Source {
    const known = this.#sources.get(key);
    if (known) return known;
    const source: Source = { told: state, now: state, due: 'no', writtenAt: -Infinity, unanswered: 0 };
    this.#sources.set(key, source);
    return source;
  }
}

function isTeamSource({ kind, metadata }: KubeObject): boolean {
  const isSource = kind === 'ConfigMap' || kind === 'Secret';
  return isSource && NAMESPACES.some((name) => name === metadata.namespace);
}

function stateOf(object: KubeObject | undefined): State {
  return object ? letterOf(object) : 'gone';
}
