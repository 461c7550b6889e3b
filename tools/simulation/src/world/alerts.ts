/** What was told of reloads. */
import { newMarks } from './marks.ts';
import type { KubeObject } from './shapes.ts';

/** A reload of these is a write to their pod template, and nothing else has it. */
const OWN_TEMPLATE = ['StatefulSet', 'DaemonSet'] as const;

export class Alerts {
  /** Texts, with how often each has to come. */
  readonly #expected = new Map<string, number>();
  readonly #received = new Map<string, number>();

  /** Each source that the workload was reloaded for is told of. */
  reloaded(before: KubeObject, after: KubeObject): void {
    if (!isTemplateItsOwn(after)) return;
    const refs = new Set([...newMarks(before, after), ...newMarks(after, before)]);
    for (const ref of refs) count(this.#expected, textOf(ref, after));
  }

  received(text: string): void {
    if (OWN_TEMPLATE.some((kind) => text.includes(` of type ${kind} `))) count(this.#received, text);
  }

  /** Returns what was not told. */
  missing(): string[] {
    return [...this.#expected]
      .filter(([text, times]) => (this.#received.get(text) ?? 0) < times)
      .map(([text, times]) => `expected ${times} times, given ${this.#received.get(text) ?? 0}: ${text}`);
  }

  /** Returns what was told although it was not so. */
  untrue(): string[] {
    return [...this.#received.keys()].filter((text) => !this.#expected.has(text));
  }
}

function isTemplateItsOwn({ kind }: KubeObject): boolean {
  return OWN_TEMPLATE.some((each) => each === kind);
}

function count(texts: Map<string, number>, text: string): void {
  texts.set(text, (texts.get(text) ?? 0) + 1);
}

function textOf(ref: string, { kind, metadata }: KubeObject): string {
  const [type = '', source = ''] = ref.split('/');
  const place = `in namespace ${metadata.namespace ?? ''}`;
  const changed = `Reloader detected changes in ${source} of type ${type.toUpperCase()} ${place}`;
  return `${changed}. Hence reloaded ${metadata.name} of type ${kind} ${place}`;
}
