import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeletApi } from '../api.ts';
import { NotYet } from '../errors.ts';
import { Store } from '../store.ts';
import type { Metadata } from '../types.ts';

interface Claim {
  readonly metadata: Metadata;
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: { readonly phase?: string };
}

interface PersistentVolume {
  readonly metadata: Metadata;
  readonly spec: { readonly hostPath?: { readonly path: string } };
  readonly status?: { readonly phase?: string };
}

export const STORAGE_CLASS = 'test-folder';
const PROVISIONER = 'reroll.dev/test-folder';
const VOLUMES = '/api/v1/persistentvolumes';

/** The default StorageClass, and what makes and removes its volumes: folders below the kubelet's. */
export class Storage {
  readonly #api: KubeletApi;
  readonly #folder: string;
  readonly #claims: Store<Claim>;
  readonly #volumes: Store<PersistentVolume>;
  readonly #work = new Set<Promise<void>>();

  constructor(api: KubeletApi, folder: string) {
    this.#api = api;
    this.#folder = join(folder, 'claims');
    const { client } = api;
    const claims = '/api/v1/persistentvolumeclaims';
    this.#claims = new Store({ client, path: claims, onChange: (uid) => this.#do(() => this.#provide(uid)) });
    this.#volumes = new Store({
      client,
      path: VOLUMES,
      onChange: (uid) => this.#do(() => this.#release(uid)),
    });
  }

  async start(): Promise<void> {
    await this.#api.ensure('/apis/storage.k8s.io/v1/storageclasses', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: STORAGE_CLASS,
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: PROVISIONER,
    });
    await Promise.all([this.#claims.start(), this.#volumes.start()]);
  }

  /** Folder of a claim. @throws NotYet until it is bound to one of ours. */
  async claim(namespace: string, name: string): Promise<string> {
    const claim = await this.#api.find<Claim>(
      `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`,
    );
    const volume = claim?.spec.volumeName;
    const path = volume === undefined ? undefined : await this.#pathOf(volume);
    if (path === undefined) throw new NotYet('ContainerCreating', `claim ${name} is not bound`);
    return path;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#claims.stop(), this.#volumes.stop()]);
    await Promise.all(this.#work);
  }

  #do(work: () => Promise<void>): void {
    const running: Promise<void> = work()
      // The object's next change, or the next list, brings another attempt.
      .catch(() => undefined)
      .finally(() => this.#work.delete(running));
    this.#work.add(running);
  }

  async #provide(uid: string): Promise<void> {
    const claim = this.#claims.get(uid);
    if (claim?.status?.phase !== 'Pending' || claim.spec.storageClassName !== STORAGE_CLASS) return;
    const name = `folder-${uid}`;
    const path = join(this.#folder, uid);
    mkdirSync(path, { recursive: true });
    await this.#api.ensure(VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
      spec: {
        storageClassName: STORAGE_CLASS,
        capacity: { storage: claim.spec.resources?.requests?.storage ?? '1Gi' },
        accessModes: claim.spec.accessModes,
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: claim.metadata.namespace, name: claim.metadata.name, uid },
        hostPath: { path },
      },
    });
  }

  /** Of a claim that is gone. */
  async #release(uid: string): Promise<void> {
    const volume = this.#volumes.get(uid);
    const path = volume?.spec.hostPath?.path;
    if (volume?.status?.phase !== 'Released' || path?.startsWith(this.#folder) !== true) return;
    await this.#api.remove(`${VOLUMES}/${volume.metadata.name}`);
    rmSync(path, { recursive: true, force: true });
  }

  async #pathOf(name: string): Promise<string | undefined> {
    const volume = await this.#api.find<PersistentVolume>(`${VOLUMES}/${name}`);
    return volume?.status?.phase === 'Bound' ? volume.spec.hostPath?.path : undefined;
  }
}
