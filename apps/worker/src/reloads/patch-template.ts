import { reloadPatch, type ReloadStrategy } from '@reroll/shared/core/reload/patch';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { KubeError } from '@reroll/shared/kube/errors';
import { objectPath } from '@reroll/shared/kube/objects';
import type { Reload, ReloadWay } from './reload-way.ts';

export interface PatchTemplateContext {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  /** Key of the annotation that the annotations strategy writes into the pod template. */
  readonly markerAnnotation: string;
}

/** Reloads by one JSON Patch of the workload: marker and record. Its own controller then replaces the pods. */
export class PatchTemplate implements ReloadWay {
  readonly #context: PatchTemplateContext;

  constructor(context: PatchTemplateContext) {
    this.#context = context;
  }

  async send({ workload, rolled, record }: Reload): Promise<boolean> {
    const { client, strategy, fieldManager, markerAnnotation } = this.#context;
    const patch = reloadPatch({
      metadata: workload.object.metadata,
      template: workload.template,
      templatePath: workload.definition.podTemplatePath,
      strategy,
      rolled,
      record,
      markerAnnotation,
      now: Math.floor(Date.now() / 1000),
    });
    try {
      const path = objectPath(workload.definition, workload.object.metadata);
      await client.patch(path, patch, { query: { fieldManager } });
      return true;
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }
}

/** A failed `test` is 422 without causes (an invalid object has causes); 404 and 409 are seen at the next read. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 404 || error.status === 409 || (error.status === 422 && error.causes.length === 0);
}
