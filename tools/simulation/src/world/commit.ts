/** A write, and what it may violate. */
import type { KubeObject } from './shapes.ts';

export interface Commit {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  /** Name of the process of Reroll that wrote; `undefined`: somebody else. */
  readonly by: string | undefined;
}

export interface Violation {
  readonly kind: 'lost' | 'doubled' | 'held' | 'unstable' | 'leaked' | 'unbounded' | 'early' | 'failed';
  readonly text: string;
}
