import { formatGeneral } from '../lua/numbers.ts';

interface Scored {
  readonly member: string;
  readonly score: number;
}

/** A bound of a range of scores or of members. */
export interface Bound<T> {
  readonly value: T;
  readonly isExclusive: boolean;
}

/** A sorted set, in the order of scores and then of the bytes of members. */
export class SortedSet {
  readonly type = 'zset';
  expiresAt = Infinity;
  readonly #scores: Map<string, number>;
  readonly #order: Scored[];

  constructor(scores = new Map<string, number>(), order: Scored[] = []) {
    this.#scores = scores;
    this.#order = order;
  }

  get size(): number {
    return this.#order.length;
  }

  clone(): SortedSet {
    const clone = new SortedSet(new Map(this.#scores), [...this.#order]);
    clone.expiresAt = this.expiresAt;
    return clone;
  }

  texts(): Iterable<string> {
    return this.#scores.keys();
  }

  scores(): Iterable<[string, number]> {
    return this.#scores;
  }

  scoreOf(member: string): number | undefined {
    return this.#scores.get(member);
  }

  set(member: string, score: number): void {
    const old = this.#scores.get(member);
    if (old === score) return;
    if (old !== undefined) this.#order.splice(this.#indexOf(member, old), 1);
    this.#scores.set(member, score);
    const at = this.#indexOf(member, score);
    if (at === this.#order.length) this.#order.push({ member, score });
    else this.#order.splice(at, 0, { member, score });
  }

  delete(member: string): boolean {
    const score = this.#scores.get(member);
    if (score === undefined) return false;
    this.#scores.delete(member);
    this.#order.splice(this.#indexOf(member, score), 1);
    return true;
  }

  rankOf(member: string): number | undefined {
    const score = this.#scores.get(member);
    return score === undefined ? undefined : this.#indexOf(member, score);
  }

  /** From `begin` up to before `end`. */
  slice(begin: number, end: number): Scored[] {
    return this.#order.slice(begin, end);
  }

  /** Begin and end (exclusive) of a range of scores. */
  rangeOfScores(min: Bound<number>, max: Bound<number>): [number, number] {
    return [
      this.#firstWhere(({ score }) => (min.isExclusive ? score > min.value : score >= min.value)),
      this.#firstWhere(({ score }) => (max.isExclusive ? score >= max.value : score > max.value)),
    ];
  }

  /** Begin and end (exclusive) of a range of members, all of which have the same score. */
  rangeOfMembers(min: Bound<string>, max: Bound<string>): [number, number] {
    return [
      this.#firstWhere(({ member }) => isBehind(member, min, !min.isExclusive)),
      this.#firstWhere(({ member }) => isBehind(member, max, max.isExclusive)),
    ];
  }

  #indexOf(member: string, score: number): number {
    return this.#firstWhere((each) => each.score > score || (each.score === score && each.member >= member));
  }

  #firstWhere(isReached: (each: Scored) => boolean): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const each = this.#order[middle];
      if (each && isReached(each)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Lowest and highest of all members. */
export const LOWEST = '-';
export const HIGHEST = '+';

/** `value` is a member after `[` or `(`, or one of the two signs. */
function isBehind(member: string, { value }: Bound<string>, isIncluded: boolean): boolean {
  if (value === LOWEST) return true;
  if (value === HIGHEST) return false;
  const other = value.slice(1);
  return isIncluded ? member >= other : member > other;
}

/** A score as Redis writes it. */
export function scoreText(score: number): string {
  if (score === Infinity) return 'inf';
  if (score === -Infinity) return '-inf';
  if (Number.isInteger(score) && Math.abs(score) < 1e17 && !Object.is(score, -0)) return String(score);
  return formatGeneral(score, 17);
}
