import type { SortedSet } from './sorted-set.ts';
import type { Stream } from './stream.ts';

/** The values of keys, but for sorted sets and streams. `expiresAt` is in virtual Unix milliseconds. */

export class Text {
  readonly type = 'string';
  readonly size = 1;
  expiresAt = Infinity;
  text: string;

  constructor(text = '') {
    this.text = text;
  }

  clone(): Text {
    return expiringAs(new Text(this.text), this);
  }

  texts(): Iterable<string> {
    return [this.text];
  }
}

export class Hash {
  readonly type = 'hash';
  expiresAt = Infinity;
  readonly fields: Map<string, string>;

  constructor(fields = new Map<string, string>()) {
    this.fields = fields;
  }

  get size(): number {
    return this.fields.size;
  }

  clone(): Hash {
    return expiringAs(new Hash(new Map(this.fields)), this);
  }

  *texts(): Iterable<string> {
    for (const [field, value] of this.fields) {
      yield field;
      yield value;
    }
  }
}

export class List {
  readonly type = 'list';
  expiresAt = Infinity;
  items: string[];

  constructor(items: string[] = []) {
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  clone(): List {
    return expiringAs(new List([...this.items]), this);
  }

  texts(): Iterable<string> {
    return this.items;
  }
}

export class Members {
  readonly type = 'set';
  expiresAt = Infinity;
  readonly members: Set<string>;

  constructor(members = new Set<string>()) {
    this.members = members;
  }

  get size(): number {
    return this.members.size;
  }

  clone(): Members {
    return expiringAs(new Members(new Set(this.members)), this);
  }

  texts(): Iterable<string> {
    return this.members;
  }
}

export type Value = Text | Hash | List | Members | SortedSet | Stream;

function expiringAs<T extends { expiresAt: number }>(clone: T, { expiresAt }: T): T {
  clone.expiresAt = expiresAt;
  return clone;
}
