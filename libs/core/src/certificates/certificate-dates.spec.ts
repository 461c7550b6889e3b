import { beforeEach, describe, expect, it } from 'vitest';
import type { SourceKey } from '../model.ts';
import { CERTIFICATES, tlsCrt } from '../testing/certificates.ts';
import { seenSource, workloadRow } from '../testing/rows.ts';
import { workOf } from '../work.ts';
import { CertificateDates, type CertificateInUse } from './certificate-dates.ts';

const { sooner, later } = CERTIFICATES;
const KEY: SourceKey = 'Secret/ns/tls';
const WEB = 'Deployment/ns/web';
const USER = workloadRow({ dependencies: ['ConfigMap/cm', 'Secret/tls'] });

let dates: CertificateDates;
let rv: number;

beforeEach(() => {
  dates = new CertificateDates();
  rv = 0;
});

/** `text` is the `tls.crt`; undefined for a Secret of another type. */
function written(text: string | undefined, hash: string, key = KEY): void {
  rv += 1;
  dates.seen(dates.observed(seenSource('', rv, hash, { key }), text));
}

/** One count, in which the workload is the only one. */
function counted({ behind = false, known = true, row = USER } = {}): (CertificateInUse | undefined)[] {
  dates.beginCount();
  dates.count(WEB, row, () => behind);
  return [...dates.inUse(() => known)];
}

function expiring(expiresAt: number | undefined): CertificateInUse[] {
  return [{ namespace: 'ns', secret: 'tls', expiresAt }];
}

describe('a certificate', () => {
  it('counts if a workload depends on it', () => {
    written(tlsCrt(sooner.pem), 'A');
    expect(counted()).toEqual(expiring(sooner.expiresAt));
    expect(counted({ row: workloadRow() })).toEqual([undefined]);
    dates.beginCount();
    dates.count('Deployment/other/web', USER, () => false);
    expect([...dates.inUse(() => true)]).toEqual([undefined]);
  });

  it('is parsed once for each change of the data', () => {
    const writes = (): void => {
      written(tlsCrt(sooner.pem), 'A');
      written(tlsCrt(sooner.pem), 'A');
      written(tlsCrt(later.pem), 'B');
      written(tlsCrt(later.pem), 'B');
    };
    expect(workOf(writes).certificates).toBe(2);
  });

  it('is not looked for in a source of another type, and nothing is kept of that', () => {
    expect(workOf(() => written(undefined, 'A')).certificates).toBe(0);
    expect(counted()).toEqual([]);
  });

  it('that cannot be read counts without a date, and is parsed once', () => {
    const writes = (): void => {
      written('', 'A');
      written('', 'A');
    };
    expect(workOf(writes).certificates).toBe(1);
    expect(counted()).toEqual(expiring(undefined));
  });

  it('is forgotten with its source', () => {
    written(tlsCrt(sooner.pem), 'A');
    expect(counted({ known: false })).toEqual([]);
    expect(counted()).toEqual([]);
  });
});

describe('a certificate that is replaced', () => {
  beforeEach(() => {
    written(tlsCrt(sooner.pem), 'A');
    counted();
    written(tlsCrt(later.pem), 'B');
  });

  it('counts until no workload that depends on it is behind, and not again', () => {
    for (let count = 0; count < 3; count += 1)
      expect(counted({ behind: true })).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual(expiring(later.expiresAt));
    expect(counted({ behind: true })).toEqual(expiring(later.expiresAt));
  });

  it('counts in the next count, because the workloads may not have been evaluated yet', () => {
    expect(counted()).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual(expiring(later.expiresAt));
  });

  it('during a count counts in that and the next', () => {
    counted();
    expect(counted()).toEqual(expiring(later.expiresAt));
    dates.beginCount();
    dates.count(WEB, USER, () => false);
    written(tlsCrt(sooner.pem), 'C');
    written(tlsCrt(later.pem), 'D');
    expect([...dates.inUse(() => true)]).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual(expiring(later.expiresAt));
  });

  it('counts although the one after it cannot be read', () => {
    written('', 'C');
    expect(counted({ behind: true })).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual(expiring(undefined));
  });

  it('by a Secret of another type counts until no workload is behind', () => {
    written(undefined, 'C');
    expect(counted({ behind: true })).toEqual(expiring(sooner.expiresAt));
    expect(counted()).toEqual([]);
  });
});

it('of several earlier certificates the first that expires counts', () => {
  written(tlsCrt(later.pem), 'A');
  written(tlsCrt(sooner.pem), 'B');
  written(tlsCrt(later.pem), 'C');
  expect(counted({ behind: true })).toEqual(expiring(sooner.expiresAt));
});

describe('a count', () => {
  it('asks at most once whether a workload is behind, and only if a certificate was replaced', () => {
    let asked = 0;
    const isBehind = (): boolean => {
      asked += 1;
      return true;
    };
    const keys = [1, 2, 3].map((n): SourceKey => `Secret/ns/tls-${n}`);
    const row = workloadRow({ dependencies: keys.map((key) => key.replace('/ns', '')) });
    const count = (): number => {
      asked = 0;
      dates.beginCount();
      dates.count(WEB, row, isBehind);
      for (const _ of dates.inUse(() => true)) continue;
      return asked;
    };
    for (const key of keys) written(tlsCrt(sooner.pem), 'A', key);
    expect(count()).toBe(0);
    for (const key of keys) written(tlsCrt(later.pem), 'B', key);
    expect(count()).toBe(0);
    expect(count()).toBe(1);
  });
});
