/** Which namespaces, and which sources, the install of a run watches. */
import { NAMESPACES, type KubeObject } from './shapes.ts';
import type { Commit } from './commit.ts';

/** The label that the selectors of a run ask for. */
export const WATCHED = { watched: 'yes' } as const;

/** Virtual milliseconds in which what comes in is adopted, or rolled for what changed outside. */
const SETTLED_WITHIN = 12_000;

export interface ScopeBy {
  readonly now: () => number;
  /** Namespaces that are never watched. */
  readonly ignored: readonly string[];
  /** Only namespaces with the label are watched. */
  readonly selects: boolean;
}

interface Namespace {
  readonly isIn: boolean;
  readonly since: number;
}

export class Scope {
  readonly #by: ScopeBy;
  readonly #namespaces = new Map<string, Namespace>();

  constructor(by: ScopeBy) {
    this.#by = by;
    for (const name of NAMESPACES)
      this.#namespaces.set(name, { isIn: !by.ignored.includes(name), since: -Infinity });
  }

  /** Returns the namespace that has come in or gone out by this write. */
  commit({ after }: Commit): string | undefined {
    return after?.kind === 'Namespace' ? this.is(after) : undefined;
  }

  /** A namespace is so from now on. Returns its name if that takes it in or out. */
  is(namespace: KubeObject): string | undefined {
    if (!this.#by.selects) return undefined;
    const { name } = namespace.metadata;
    const known = this.#namespaces.get(name);
    const isIn = hasLabel(namespace);
    if (!known || known.isIn === isIn) return undefined;
    this.#namespaces.set(name, { isIn, since: this.#by.now() });
    return name;
  }

  isIn(namespace = ''): boolean {
    return this.#namespaces.get(namespace)?.isIn === true;
  }

  /** When it went out, in virtual milliseconds; `Infinity`: it is in. */
  outSince(namespace = ''): number {
    const { isIn, since } = this.#namespaces.get(namespace) ?? { isIn: true, since: 0 };
    return isIn ? Infinity : since;
  }

  /** Whether what changes in it now may be seen or not. */
  isInDoubt(namespace = ''): boolean {
    const { isIn, since } = this.#namespaces.get(namespace) ?? { isIn: true, since: 0 };
    return !isIn || since > this.#by.now() - SETTLED_WITHIN;
  }
}

export function hasLabel({ metadata }: KubeObject): boolean {
  return metadata.labels?.['watched'] === WATCHED.watched;
}
