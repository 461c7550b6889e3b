import type { KubeResponse } from '../client/connection.ts';
import { apiError, networkError, type KubeError } from '../client/errors.ts';
import type { Lease } from '../lease/lease-record.ts';
import type { LeaseOptions } from '../lease/lease.ts';

export interface LeaseBackup {
  readonly lease: Lease | undefined;
  readonly version: number;
}

/** One Lease in memory, with the API server's optimistic concurrency. Other calls fail the test. */
export class FakeLeases {
  lease: Lease | undefined;
  /** The server's clock. */
  date = Date.parse('2026-01-02T03:04:05Z');
  #version = 100;

  /** Returns a candidate's connection; `reachable = false` makes every call fail. */
  connect(): LeaseOptions['client'] & { reachable: boolean } {
    const call = <T>(run: () => T): Promise<KubeResponse<T>> =>
      connection.reachable
        ? Promise.resolve().then(() => ({ status: 200, body: run(), date: this.date }))
        : Promise.reject(networkError('lease', { code: 'ECONNREFUSED' }));
    const connection = {
      reachable: true,
      get: <T>() => call(() => this.#present() as T),
      post: <T>(_path: string, body: unknown) => call(() => this.#create(body as Lease) as T),
      put: <T>(_path: string, body: unknown) => call(() => this.#update(body as Lease) as T),
    };
    return connection;
  }

  /** Returns the content of an etcd backup. */
  backUp(): LeaseBackup {
    return { lease: this.lease, version: this.#version };
  }

  /** Restores a backup without bumping the revision. */
  restore({ lease, version }: LeaseBackup): void {
    this.lease = lease;
    this.#version = version;
  }

  #present(): Lease {
    if (this.lease === undefined) throw refusal(404, 'NotFound');
    return this.lease;
  }

  #create(lease: Lease): Lease {
    if (this.lease !== undefined) throw refusal(409, 'AlreadyExists');
    return this.#store(lease);
  }

  #update(lease: Lease): Lease {
    if (this.#present().metadata.resourceVersion !== lease.metadata.resourceVersion)
      throw refusal(409, 'Conflict');
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    this.#version += 1;
    const creationTimestamp = lease.metadata.creationTimestamp ?? new Date(this.date).toISOString();
    const metadata = { ...lease.metadata, creationTimestamp, resourceVersion: String(this.#version) };
    this.lease = { ...lease, metadata };
    return this.lease;
  }
}

function refusal(status: number, reason: string): KubeError {
  return apiError({ request: 'lease', status, body: { reason } });
}
