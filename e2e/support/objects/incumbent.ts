import { createHash } from 'node:crypto';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { containerUsing } from '@reroll/core/references/references';
import { decideReload } from '@reroll/core/rules/decision';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import { resourceOf, type KubeObject, type Ref, type Space } from '../kube.ts';

const SOURCE_KINDS = ['ConfigMap', 'Secret'] as const;
/** In its order. */
const WORKLOAD_KINDS = ['Deployment', 'DaemonSet', 'StatefulSet'] as const;
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

interface Source {
  readonly kind: (typeof SOURCE_KINDS)[number];
  readonly object: KubeObject;
}

/**
 * Stands in for stakater/Reloader, whose binary the tests do not have: it watches ConfigMaps and Secrets of a
 * namespace, compares the SHA-1 of their data with the last one that it saw, and makes the incumbent's writes by
 * its default strategy: strategic merge patches of variables as the field manager `Reloader`. It knows nothing of what changed before its start.
 */
export class Incumbent {
  readonly #space: Space;
  readonly #last = new Map<Ref, string>();
  readonly #reflectors: Reflector<Source>[] = [];

  private constructor(space: Space) {
    this.#space = space;
  }

  static async start(space: Space): Promise<Incumbent> {
    const incumbent = new Incumbent(space);
    for (const kind of SOURCE_KINDS) incumbent.#watch(kind);
    await Promise.all(incumbent.#reflectors.map((reflector) => reflector.waitSynced(30_000)));
    space.atEnd(() => incumbent.stop());
    return incumbent;
  }

  /** Ends it, as when its Deployment is scaled to nothing. Safe to repeat. */
  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.splice(0).map((reflector) => reflector.stop(5_000)));
  }

  #watch(kind: Source['kind']): void {
    const reflector = new Reflector<Source>({
      client: this.#space.client,
      path: collectionPath(resourceOf(kind), this.#space.name),
      convert: (raw) => ({ kind, object: raw as unknown as KubeObject }),
      handler: {
        replace: () => undefined,
        upsert: async (sources, by) => {
          for (const source of sources) {
            if (by === 'list') this.#remember(source);
            else await this.#changed(source);
          }
        },
        delete: (source) => this.#changed(source),
        synced: () => undefined,
      },
    });
    this.#reflectors.push(reflector);
    reflector.start();
  }

  /** True if its data is other than before. */
  #remember({ kind, object }: Source): boolean {
    const ref = `${kind}/${object.metadata.name}`;
    const [before, now] = [this.#last.get(ref), hashOf(kind, object)];
    this.#last.set(ref, now);
    return before !== undefined && before !== now;
  }

  async #changed(source: Source): Promise<void> {
    if (!this.#remember(source)) return;
    for (const kind of WORKLOAD_KINDS) {
      const workloads = await this.#space.list(kind);
      for (const workload of workloads) await this.#reload(kind, workload, source);
    }
  }

  async #reload(
    workloadKind: (typeof WORKLOAD_KINDS)[number],
    workload: KubeObject,
    { kind, object }: Source,
  ): Promise<void> {
    const { name, annotations = {} } = object.metadata;
    const { template } = workload.spec;
    const decision = decideReload({
      source: { kind, name, annotations },
      workload: {
        kind: workloadKind,
        annotations: workload.metadata.annotations ?? {},
        podAnnotations: template.metadata?.annotations ?? {},
      },
      settings: { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] },
    });
    if (!decision.reload) return;
    const index = containerUsing(template.spec ?? {}, { kind, name }, decision.auto);
    const container = index === null ? undefined : template.spec?.containers?.[index]?.name;
    if (container === undefined) return;
    const variable = {
      name: `STAKATER_${variablePart(name)}_${kind.toUpperCase()}`,
      value: hashOf(kind, object),
    };
    const patch = { spec: { template: { spec: { containers: [{ name: container, env: [variable] }] } } } };
    const options = { contentType: STRATEGIC_MERGE_PATCH, query: { fieldManager: 'Reloader' } };
    await this.#space.client.patch(
      this.#space.path(`${workloadKind}/${workload.metadata.name}`),
      patch,
      options,
    );
  }
}

/** `a.b--c` to `A_B_C`. */
export function variablePart(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

function hashOf(kind: Source['kind'], { data = {} }: KubeObject): string {
  const values = Object.entries(data).map(
    ([key, value]) =>
      `${key}=${kind === 'Secret' ? Buffer.from(value, 'base64').toString('latin1') : Buffer.from(value).toString('latin1')}`,
  );
  return createHash('sha1').update(values.sort().join(';'), 'latin1').digest('hex');
}
