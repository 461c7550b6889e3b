import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import type { RecordHash } from '../record/record-hash.ts';
import {
  sourceKeyIn,
  sourceNameOf,
  type CertificateSeen,
  type ObservedSource,
  type SourceName,
  type WorkloadRow,
} from '../state/rows.ts';
import { certificateExpiry } from './certificate-expiry.ts';

interface Held {
  hash: RecordHash;
  /** Undefined if the source came back as a Secret of another type. */
  certificate: CertificateSeen | undefined;
  /** When the first of the certificates before it expires that pods may still have, in Unix seconds. */
  earlier: number | undefined;
  /** The last count in which a workload depended on it. */
  usedIn: number;
  /** The last count for which pods have to be taken to have an earlier certificate. */
  earlierUsedIn: number;
}

/** A Secret with a certificate that a workload depends on. */
export interface CertificateInUse {
  readonly namespace: string;
  readonly secret: string;
  /** Unix seconds; undefined if the certificate cannot be read. */
  readonly expiresAt: number | undefined;
}

/**
 * When the certificates expire that pods started with: dates in memory, for each Secret of the type `kubernetes.io/tls`. Parses a
 * certificate once for each change of its Secret's data. While a workload that depends on the Secret may have an earlier certificate,
 * that one's date is kept too. Those of the time before this process began are not known.
 */
export class CertificateDates {
  /** By namespace, so that a workload whose namespace has none costs one lookup. */
  readonly #held = new Map<string, Map<SourceName, Held>>();
  #count = 0;

  /** Adds the date to a sighting of a source. `tlsCrt` is undefined for a source that has no certificate. */
  observed(seen: ObservedSource, tlsCrt: string | undefined): ObservedSource {
    if (tlsCrt === undefined) return seen;
    const held = this.#find(seen.key);
    const isKnown = held?.hash === seen.hash;
    return {
      ...seen,
      certificate: isKnown && held.certificate ? held.certificate : { expiresAt: certificateExpiry(tlsCrt) },
    };
  }

  /** Takes a sighting that the cluster state has taken. */
  seen({ key, hash, certificate }: ObservedSource): void {
    const held = this.#find(key);
    if (!held) {
      if (certificate) this.#put(key, { hash, certificate, earlier: undefined, usedIn: 0, earlierUsedIn: 0 });
      return;
    }
    if (held.hash === hash) return;
    held.earlier = first(held.earlier, held.certificate?.expiresAt);
    held.hash = hash;
    held.certificate = certificate;
    // The workloads that depend on it may be evaluated only after the next count.
    held.earlierUsedIn = this.#count + 1;
  }

  /** Begins a count of what is in use: call `count` for every workload, and then `inUse`. */
  beginCount(): void {
    this.#count += 1;
  }

  /**
   * Counts a workload: one lookup for each of its dependencies, if its namespace has certificates. `isBehind`, whether its pods may
   * have older data, is asked at most once.
   */
  count(workload: WorkloadKey, { dependencies }: WorkloadRow, isBehind: () => boolean): void {
    if (this.#held.size === 0 || dependencies.length === 0) return;
    const certificates = this.#held.get(namespaceOf(workload));
    if (!certificates) return;
    let hasEarlier: boolean | undefined;
    for (const name of dependencies) {
      const held = certificates.get(name);
      if (!held) continue;
      held.usedIn = this.#count;
      if (held.earlier === undefined || held.earlierUsedIn >= this.#count) continue;
      hasEarlier ??= isBehind();
      if (hasEarlier) held.earlierUsedIn = this.#count;
    }
  }

  /**
   * Yields what the count found, and undefined for each certificate that it did not. Forgets sources that are not `isKnown` any more,
   * and earlier certificates that no pod has.
   */
  *inUse(isKnown: (source: SourceKey) => boolean): Generator<CertificateInUse | undefined, void, void> {
    for (const [namespace, certificates] of this.#held) {
      for (const [name, held] of certificates) {
        if (held.earlierUsedIn < this.#count) held.earlier = undefined;
        const isOne = held.certificate !== undefined || held.earlier !== undefined;
        if (!isOne || !isKnown(sourceKeyIn(namespace, name))) certificates.delete(name);
        else yield this.#inUse(namespace, name, held);
      }
      if (certificates.size === 0) this.#held.delete(namespace);
    }
  }

  #inUse(namespace: string, name: SourceName, held: Held): CertificateInUse | undefined {
    if (held.usedIn !== this.#count) return undefined;
    const secret = name.slice(name.indexOf('/') + 1);
    return { namespace, secret, expiresAt: first(held.earlier, held.certificate?.expiresAt) };
  }

  #find(key: SourceKey): Held | undefined {
    return this.#held.get(namespaceOf(key))?.get(sourceNameOf(key));
  }

  #put(key: SourceKey, held: Held): void {
    const namespace = namespaceOf(key);
    const certificates = this.#held.get(namespace) ?? new Map<SourceName, Held>();
    this.#held.set(namespace, certificates.set(sourceNameOf(key), held));
  }
}

function first(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
