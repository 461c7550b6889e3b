import { isDeepStrictEqual } from 'node:util';
import type { PodTemplate } from '@reroll/core/model';
import { compareRv, parseRv } from '@reroll/core/rv';
import { isServed } from '@reroll/kube/discovery';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import { WORKLOAD_DEFINITIONS } from '@reroll/kube/workloads/registry';
import type { Ref, Space } from '../kube.ts';
import { eventually } from '../wait.ts';

interface Seen {
  readonly ref: Ref;
  readonly rv: string;
  readonly template: PodTemplate;
}

/**
 * Counts how often the pod template of each workload of a namespace was written with something else in it:
 * its rollouts. (A Deployment's generation also counts writes of its annotations, the record among them.)
 */
export class TemplateWatch {
  readonly #space: Space;
  readonly #last = new Map<Ref, Seen>();
  readonly #changes = new Map<Ref, number>();

  private constructor(space: Space) {
    this.#space = space;
  }

  static async start(space: Space): Promise<TemplateWatch> {
    const watch = new TemplateWatch(space);
    const served = await Promise.all(
      WORKLOAD_DEFINITIONS.map((definition) => isServed(space.client, definition)),
    );
    const reflectors = WORKLOAD_DEFINITIONS.filter((_definition, index) => served[index]).map(
      (definition) =>
        new Reflector<Seen>({
          client: space.client,
          path: collectionPath(definition, space.name),
          convert: (raw) => ({
            ref: `${definition.kind}/${raw.metadata.name}`,
            rv: raw.metadata.resourceVersion,
            template: definition.template(raw) ?? {},
          }),
          handler: {
            replace: () => undefined,
            upsert: (objects) => objects.forEach((seen) => watch.#see(seen)),
            delete: (seen) => watch.#see(seen),
            synced: () => undefined,
          },
        }),
    );
    for (const reflector of reflectors) reflector.start();
    await Promise.all(reflectors.map((reflector) => reflector.waitSynced(30_000)));
    space.atEnd(() => Promise.all(reflectors.map((reflector) => reflector.stop(1_000))));
    return watch;
  }

  /** Changes of its template so far, up to its present state. */
  async changes(ref: Ref): Promise<number> {
    const { resourceVersion } = (await this.#space.get(ref)).metadata;
    const isUpToDate = (): boolean => {
      const seen = this.#last.get(ref);
      return seen !== undefined && compareRv(parseRv(seen.rv), parseRv(resourceVersion)) >= 0;
    };
    await eventually(isUpToDate, { what: `${ref} of ${resourceVersion} to be seen on its stream` });
    return this.#changes.get(ref) ?? 0;
  }

  #see(seen: Seen): void {
    const before = this.#last.get(seen.ref);
    this.#last.set(seen.ref, seen);
    if (before === undefined || isDeepStrictEqual(before.template, seen.template)) return;
    this.#changes.set(seen.ref, (this.#changes.get(seen.ref) ?? 0) + 1);
  }
}
