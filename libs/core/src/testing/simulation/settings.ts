import { NO_TRIGGERS, type Triggers } from '../../state/settings.ts';

/** The options of the install that is simulated, and who else is at work in its cluster. */
export interface Settings {
  readonly triggers: Triggers;
  readonly adoptStale: 'report' | 'reload';
  /** Workloads ask for a pause at each reload, and their owners pause and resume them too. */
  readonly pauses: boolean;
  /** Another controller takes markers away. */
  readonly rival: boolean;
  /** The key of the record's hashes is turned over now and then. */
  readonly rotates: boolean;
  /** The namespace leaves the scope and enters it again. Only where no watcher fails. */
  readonly scoped: boolean;
  /** Its etcd is restored from a backup now and then. */
  readonly restores: boolean;
}

/** Only changes of data roll; nobody pauses, strips markers or turns keys over. */
export const PLAIN: Settings = {
  triggers: NO_TRIGGERS,
  adoptStale: 'report',
  pauses: false,
  rival: false,
  rotates: false,
  scoped: false,
  restores: false,
};
