/** Who leads. */
import { inFile } from '../mutant.ts';

const LEASE = 'libs/kube/src/lease';
const SPEC = `${LEASE}/lease.spec.ts`;

export const leaseMutants = inFile(`${LEASE}/lease.ts`, [
  {
    name: 'a Lease is taken before it has run out',
    text: `return this.#recordSince + seconds * 1000;`,
    replacement: `return this.#recordSince;`,
    killedBy: {
      spec: SPEC,
      test: 'a second candidate stands by, says once for whom, and never acquires while the first renews',
    },
  },
  {
    name: 'the times in a Lease are believed',
    text: `return this.#recordSince + seconds * 1000;`,
    replacement: `return this.#clock.now() - Date.now() + Date.parse(this.#lease?.spec?.renewTime ?? '') + seconds * 1000;`,
    killedBy: { spec: SPEC, test: 'times in the record are not believed' },
  },
  {
    name: 'who has just started takes a free Lease as soon as a standby',
    text: `if (this.#readySince <= this.#recordSince) return this.#freeAt();`,
    replacement: `return this.#freeAt();`,
    killedBy: {
      spec: SPEC,
      test: 'a standby that was ready takes a released Lease, though one that was not asks for it first',
    },
  },
  {
    name: 'a leader that was frozen believes that it still leads',
    text: `if (this.#clock.now() - this.#renewedAt < this.#settings.renewDeadlineMs) return true;`,
    replacement: `return true;`,
    killedBy: {
      spec: SPEC,
      test: 'a leader that was frozen past its deadline knows it before any timer or answer of its own',
    },
  },
  {
    name: 'a write of the Lease does not test what was read',
    text: `(this.#path, lease, limits);`,
    replacement: `(this.#path, { ...lease, metadata: { ...lease.metadata, resourceVersion: undefined } }, limits);`,
    killedBy: { spec: SPEC, test: 'a leader that finds another holder in the Lease stops at once' },
  },
  {
    name: 'a leader that ends keeps the Lease',
    text: `if (!this.#isRestored && (leading || this.#writing)) await this.#release(timeoutMs);`,
    replacement: ``,
    killedBy: {
      spec: SPEC,
      test: 'a released Lease is taken within 3 s, with a greater term and the same adopted-at',
    },
  },
  {
    name: 'a Lease that is older than before tells nobody that etcd was restored',
    text: `if (this.#isRestored || !isRv(seenNow) || !isNewer(seenBefore, seenNow)) return;`,
    replacement: `return;`,
    killedBy: {
      spec: SPEC,
      test: 'is told by leader and standby at their next attempt, and neither writes anything more',
    },
  },
]);
