import { compareIds, FIRST_ID, type StreamId } from './stream-id.ts';

export interface StreamEntry {
  readonly id: StreamId;
  /** Names and values in turn. */
  readonly fields: readonly string[];
}

/** What Redis stores together, and drops together if it trims approximately. */
interface Node {
  readonly first: StreamId;
  readonly names: readonly string[];
  readonly entries: StreamEntry[];
  /** Entries with those that were deleted. */
  slots: number;
  bytes: number;
}

/** Redis' defaults `stream-node-max-entries` and `stream-node-max-bytes`. */
const NODE_ENTRIES = 100;
const NODE_BYTES = 4096;
/** An approximate trim drops at most so many entries. */
const TRIM_LIMIT = 100 * NODE_ENTRIES;
const HEADER_BYTES = 7;
/** What Redis counts for a stream, and for each node in its tree. */
const STREAM_BYTES = 400;
const TREE_BYTES = 510;

export type TrimGoal = { readonly length: number } | { readonly from: StreamId };

export class Stream {
  readonly type = 'stream';
  expiresAt = Infinity;
  lastId: StreamId = FIRST_ID;
  /** How many were ever added. */
  added = 0;
  size = 0;
  #nodes: Node[] = [];

  clone(): Stream {
    const clone = new Stream();
    clone.expiresAt = this.expiresAt;
    clone.lastId = this.lastId;
    clone.added = this.added;
    clone.size = this.size;
    clone.#nodes = this.#nodes.map((node) => ({ ...node, entries: [...node.entries] }));
    return clone;
  }

  *texts(): Iterable<string> {
    for (const { entries } of this.#nodes) for (const { fields } of entries) yield* fields;
  }

  get nodeCount(): number {
    return this.#nodes.length;
  }

  add(entry: StreamEntry): void {
    const { id, fields } = entry;
    let node = this.#nodes.at(-1);
    const total = fields.reduce((sum, field) => sum + field.length, 0);
    if (!node || node.slots >= NODE_ENTRIES || node.bytes + total >= NODE_BYTES) {
      const names = fields.filter((_, at) => at % 2 === 0);
      node = { first: id, names, entries: [], slots: 0, bytes: HEADER_BYTES + masterBytes(names) };
      this.#nodes.push(node);
    }
    node.entries.push(entry);
    node.slots++;
    node.bytes += entryBytes(node, entry);
    this.lastId = id;
    this.added++;
    this.size++;
  }

  /** From `from` to `to`, both included, at most `count`. */
  range(from: StreamId, to: StreamId, count: number): StreamEntry[] {
    const found: StreamEntry[] = [];
    for (let at = this.#nodeOf(from); at < this.#nodes.length && found.length < count; at++) {
      for (const entry of this.#nodes[at]?.entries ?? []) {
        if (compareIds(entry.id, to) > 0 || found.length >= count) return found;
        if (compareIds(entry.id, from) >= 0) found.push(entry);
      }
    }
    return found;
  }

  delete(id: StreamId): boolean {
    const node = this.#nodes[this.#nodeOf(id)];
    const at = node?.entries.findIndex((entry) => compareIds(entry.id, id) === 0) ?? -1;
    if (!node || at < 0) return false;
    node.entries.splice(at, 1);
    this.size--;
    if (node.entries.length === 0) this.#nodes.splice(this.#nodes.indexOf(node), 1);
    return true;
  }

  /** Returns how many were dropped. Approximately: whole nodes only, and at most `limit` entries (0: all). */
  trim(goal: TrimGoal, isApproximate: boolean, limit = TRIM_LIMIT): number {
    const before = this.size;
    this.#trimNodes(goal, isApproximate && limit > 0 ? limit : Infinity);
    if (!isApproximate) this.#trimEntries(goal);
    return before - this.size;
  }

  #trimNodes(goal: TrimGoal, limit: number): void {
    let dropped = 0;
    for (let node = this.#nodes[0]; node && this.#isWhollyBefore(node, goal); node = this.#nodes[0]) {
      dropped += node.entries.length;
      if (dropped > limit) return;
      this.#nodes.shift();
      this.size -= node.entries.length;
    }
  }

  #trimEntries(goal: TrimGoal): void {
    for (let entry = this.#first; entry; entry = this.#first) {
      if ('length' in goal ? this.size <= goal.length : compareIds(entry.id, goal.from) >= 0) return;
      this.delete(entry.id);
    }
  }

  get #first(): StreamEntry | undefined {
    return this.#nodes[0]?.entries[0];
  }

  /** What `MEMORY USAGE` says, roughly: the entries as they are packed and allocated, and the tree of nodes around them. */
  get bytes(): number {
    const last = this.#nodes.at(-1);
    return this.#nodes.reduce(
      (sum, node) =>
        sum + allocated(node === last ? Math.max(node.bytes, NODE_BYTES) : node.bytes) + TREE_BYTES,
      STREAM_BYTES,
    );
  }

  #isWhollyBefore({ entries }: Node, goal: TrimGoal): boolean {
    if ('length' in goal) return this.size > goal.length && this.size - entries.length >= goal.length;
    const last = entries.at(-1);
    return last === undefined || compareIds(last.id, goal.from) < 0;
  }

  /** The node in which an entry of this id is, or would be. */
  #nodeOf(id: StreamId): number {
    let low = 0;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const node = this.#nodes[middle];
      if (node && compareIds(node.first, id) > 0) high = middle;
      else low = middle + 1;
    }
    return Math.max(0, low - 1);
  }
}

/** The allocator has four sizes between two powers of two. */
function allocated(bytes: number): number {
  const step = Math.max(16, 2 ** (Math.floor(Math.log2(bytes - 1)) - 2));
  return Math.ceil(bytes / step) * step;
}

function masterBytes(names: readonly string[]): number {
  // Count, deleted, number of fields, the fields, and the end.
  return 4 * 2 + names.reduce((sum, name) => sum + packedBytes(name), 0);
}

/** Flags, differences to the first id, fields and the number of elements. */
function entryBytes(node: Node, { id, fields }: StreamEntry): number {
  const hasSameNames =
    fields.length === 2 * node.names.length && node.names.every((name, at) => name === fields[2 * at]);
  let bytes = 2 + numberBytes(id.time - node.first.time) + numberBytes(id.sequence - node.first.sequence) + 2;
  if (!hasSameNames) bytes += 2;
  for (const [at, field] of fields.entries()) if (at % 2 === 1 || !hasSameNames) bytes += packedBytes(field);
  return bytes;
}

/** The size of an element of a listpack. */
function packedBytes(text: string): number {
  if (/^(?:0|-?[1-9]\d{0,17})$/u.test(text)) return numberBytes(Number(text));
  const { length } = text;
  const prefix = length < 64 ? 1 : length < 4096 ? 2 : 5;
  return prefix + length + backBytes(prefix + length);
}

/** Numbers of 7, 13, 16, 24 and 32 bits are short. */
const NUMBER_BYTES = [
  [0, 127, 2],
  [-4096, 4095, 3],
  [-32_768, 32_767, 4],
  [-8_388_608, 8_388_607, 5],
  [-2_147_483_648, 2_147_483_647, 6],
] as const;

function numberBytes(value: number): number {
  return NUMBER_BYTES.find(([lowest, highest]) => value >= lowest && value <= highest)?.[2] ?? 10;
}

/** The length of an element is repeated behind it, seven bits a byte. */
function backBytes(length: number): number {
  if (length < 128) return 1;
  return length < 16_384 ? 2 : 3;
}
