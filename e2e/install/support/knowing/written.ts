import { configMap, secret } from '../../../support/objects/builders.ts';
import type { Space } from '../../../support/kube.ts';
import { KINDS, type PlannedWrite } from './plans.ts';
import { pullData } from './registry.ts';

type Name = PlannedWrite['source'];

/** What a source holds, by the clock of this machine, which the API server has too. */
export interface Written {
  /** '' if it does not exist. */
  readonly value: string;
  readonly isImmutable: boolean;
  /** The request of its last write. */
  readonly beganAt: number;
  readonly endedAt: number;
}

/** The sources that the pods use, as they were written. */
export class Sources {
  readonly #space: Space;
  readonly #written = new Map<Name, Written>();

  constructor(space: Space) {
    this.#space = space;
  }

  async create(): Promise<void> {
    for (const name of ['db', 'settings', 'sealed', 'closing', 'pull'] as const) {
      await this.#do(name, '0', name === 'sealed', async () => {
        await this.#space.apply(sourceOf(name, '0'));
        if (name === 'sealed') await this.#space.patch('Secret/sealed', { immutable: true });
      });
    }
    this.#written.set('extra', { value: '', isImmutable: false, beganAt: 0, endedAt: 0 });
  }

  /** Writes what no write before it wrote. */
  async write(name: Name): Promise<void> {
    const value = String(Number(this.of(name)?.value) + 1);
    const ref = `${name === 'pull' ? 'Secret' : KINDS[name]}/${name}`;
    await this.#do(name, value, name === 'closing', async () => {
      if (name === 'extra') await this.#space.apply(sourceOf(name, value));
      else if (name === 'closing') await this.#space.patch(ref, { data: { value }, immutable: true });
      else await this.#space.setData(ref, name === 'pull' ? pullData(value) : { value });
    });
  }

  /** Undefined while it is being written. */
  of(name: Name): Written | undefined {
    return this.#written.get(name);
  }

  async #do(name: Name, value: string, isImmutable: boolean, write: () => Promise<void>): Promise<void> {
    this.#written.delete(name);
    const beganAt = Date.now();
    await write();
    this.#written.set(name, { value, isImmutable, beganAt, endedAt: Date.now() });
  }
}

function sourceOf(name: Name, value: string): ReturnType<typeof secret | typeof configMap> {
  if (name === 'pull') return secret(name, pullData(value), { type: 'kubernetes.io/dockerconfigjson' });
  return KINDS[name] === 'Secret' ? secret(name, { value }) : configMap(name, { value });
}
