/** What was told of reloads. */
import { newMarks } from './marks.ts';
import type { KubeObject } from './shapes.ts';

/** A reload of these is a write to their pod template, and nothing else has it. */
const OWN_TEMPLATE = ['StatefulSet', 'DaemonSet'] as const;

export class Alerts {
  /** Texts of all reloads, those that are still to come, and those that came. */
  readonly #expected = new Set<string>();
  readonly #due = new Set<string>();
  readonly #received = new Set<string>();

  /** Each source that the workload was reloaded for is told of, at least once after the last reload. */
  reloaded(before: KubeObject, after: KubeObject): void {
    if (!isTemplateItsOwn(after)) return;
    const refs = new Set([...newMarks(before, after), ...newMarks(after, before)]);
    for (const text of [...refs].map((ref) => textOf(ref, after))) {
      this.#expected.add(text);
      this.#due.add(text);
    }
  }

  received(text: string): void {
    if (!OWN_TEMPLATE.some((kind) => text.includes(` of type ${kind} `))) return;
    this.#received.add(text);
    this.#due.delete(text);
  }

  /** Returns what was not told. */
  missing(): string[] {
    return [...this.#due];
  }

  /** Returns what was told although it was not so. */
  untrue(): string[] {
    return [...this.#received].filter((text) => !this.#expected.has(text));
  }
}

function isTemplateItsOwn({ kind }: KubeObject): boolean {
  return OWN_TEMPLATE.some((each) => each === kind);
}

function textOf(ref: string, { kind, metadata }: KubeObject): string {
  const [type = '', source = ''] = ref.split('/');
  const place = `in namespace ${metadata.namespace ?? ''}`;
  const changed = `Reloader detected changes in ${source} of type ${type.toUpperCase()} ${place}`;
  return `${changed}. Hence reloaded ${metadata.name} of type ${kind} ${place}`;
}
