/** The rules of the install in a run, as far as a checker has to know them. */
import type { HashKeys } from '@reroll/core/record/record-hash';
import type { DependsOn } from './depends-on.ts';

export interface Rules {
  /** Whether what changes in the namespace now may be seen or not, because it is out of what is watched, or has just come in. */
  readonly isInDoubt: (namespace: string | undefined) => boolean;
  readonly dependsOn: DependsOn;
  /** The same, but of a source that has lost the labels of the watched ones: what it was changed to before still reloads. */
  readonly dependedOn: DependsOn;
  /** A source that comes to exist counts as changed for pods that were started without it. */
  readonly onCreate: boolean;
  /** So does one that a list shows, for a workload without a record. */
  readonly afterRestart: boolean;
  /** A deletion reloads; `marked`: whose containers have a variable that can be taken away. */
  readonly onDelete: 'never' | 'marked' | 'always';
  /** Of the hashes in applied records. */
  readonly hashKeys: HashKeys;
}
