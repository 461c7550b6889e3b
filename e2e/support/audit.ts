import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';

/** One request as kube-apiserver's audit log tells it. */
export interface AuditEntry {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly userAgent: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

/** The requests from now on. kube-apiserver writes a line before it answers, so none is missing. */
export class AuditLog {
  readonly #file: string;
  readonly #from: number;

  constructor(cluster: Cluster) {
    this.#file = cluster.auditLog;
    this.#from = statSync(this.#file).size;
  }

  /** Finished requests of clients whose user agent begins so, e.g. `reroll-worker/`. */
  of(userAgent: string): AuditEntry[] {
    const length = statSync(this.#file).size - this.#from;
    const bytes = Buffer.alloc(length);
    const file = openSync(this.#file, 'r');
    readSync(file, bytes, 0, length, this.#from);
    closeSync(file);
    const lines = bytes.toString().split('\n').slice(0, -1);
    return lines
      .map((line) => JSON.parse(line) as AuditEntry)
      .filter((entry) => entry.stage === 'ResponseComplete' && entry.userAgent.startsWith(userAgent));
  }
}

/** `GET configmaps`, `PATCH deployments`: as people read them. */
export function requestName({ verb, objectRef }: AuditEntry): string {
  return `${verb.toUpperCase()} ${objectRef?.resource ?? '?'}`;
}
