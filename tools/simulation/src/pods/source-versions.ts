import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../api/etcd.ts';

/** Data of a source: the revision of the write that brought them. */
export type SourceVersion = number;

interface Moment {
  /** Virtual milliseconds. */
  readonly at: number;
  readonly revision: number;
  /** Undefined: the source does not exist. */
  readonly version: SourceVersion | undefined;
}

/** Which data each ConfigMap and Secret had when, as etcd has it. Keys are `Kind/namespace/name`. */
export class SourceVersions {
  readonly #moments = new Map<string, Moment[]>();

  noted({ type, before, after, at, revision, shown }: Change): void {
    if (type.kind !== 'ConfigMap' && type.kind !== 'Secret') return;
    const key = `${type.kind}/${shown.key}`;
    const moments = this.#moments.get(key) ?? [];
    const isSame = before && after && isDeepStrictEqual(before.object['data'], after.object['data']);
    const version = isSame ? moments.at(-1)?.version : after && revision;
    this.#moments.set(key, [...moments, { at, revision, version }]);
  }

  /** Undefined: it did not exist at that time. */
  at(source: string, time: number): SourceVersion | undefined {
    return this.#last(source, ({ at }) => at <= time)?.version;
  }

  /** The last data that it had until then, also if it did not exist any more. */
  knownAt(source: string, time: number): SourceVersion {
    return this.#last(source, ({ at, version }) => at <= time && version !== undefined)?.version ?? 0;
  }

  /** The data with which a read answered that showed this resourceVersion. */
  ofRevision(source: string, revision: number): SourceVersion | undefined {
    return this.#last(source, (moment) => moment.revision <= revision)?.version;
  }

  /** When it was last written in any way, in virtual milliseconds. */
  writtenAt(source: string): number {
    return this.#moments.get(source)?.at(-1)?.at ?? 0;
  }

  #last(source: string, is: (moment: Moment) => boolean): Moment | undefined {
    return this.#moments.get(source)?.findLast(is);
  }
}
