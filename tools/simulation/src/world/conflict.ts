/**
 * How often somebody put a pod template back to what it was before a reload. After three times in ten minutes the workload is left
 * alone until its template or the annotations that decide are edited (docs/guide/use.md).
 */
import { IGNORE } from './objects.ts';
import type { Shown } from './restarts.ts';

const REVERTS = 3;
/** Ten minutes in milliseconds. */
const WITHIN = 600_000;

export class Conflict {
  /** The templates before reloads. */
  readonly #before = new Set<string>();
  #reverts: number[] = [];

  get isContested(): boolean {
    const [first = 0] = this.#reverts;
    return this.#reverts.length === REVERTS && (this.#reverts.at(-1) ?? 0) - first <= WITHIN;
  }

  /** `by`: the process of Reroll that wrote the workload. */
  written(before: Shown, { after, by, now }: { after: Shown; by: string | undefined; now: number }): void {
    if (by === undefined) this.#writtenByOthers(before, { after, now });
    else if (templateText(before) !== templateText(after)) this.#before.add(templateText(before));
  }

  clone(): Conflict {
    const copy = new Conflict();
    for (const each of this.#before) copy.#before.add(each);
    copy.#reverts = [...this.#reverts];
    return copy;
  }

  #writtenByOthers(before: Shown, { after, now }: { after: Shown; now: number }): void {
    if (asks(before) !== asks(after)) this.#reverts = [];
    const template = templateText(after);
    if (template === templateText(before)) return;
    if (this.#before.has(template)) this.#reverts = [...this.#reverts, now].slice(-REVERTS);
    else {
      this.#before.clear();
      this.#reverts = [];
    }
  }
}

function templateText({ template }: Shown): string {
  return JSON.stringify(template) ?? '';
}

/** The annotations of the workload that decide. `ignore` is for sources. */
function asks({ object: { metadata } }: Shown): string {
  const isMeant = (key: string): boolean => key.includes('stakater') && key !== IGNORE;
  const keys = Object.keys(metadata.annotations ?? {}).filter(isMeant);
  return JSON.stringify(keys.toSorted().map((key) => [key, metadata.annotations?.[key]]));
}
