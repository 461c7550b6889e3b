import { annotationOf } from '@reroll/shared/core/annotation-keys';
import { reloadPatch, type ReloadStrategy } from '@reroll/shared/core/reload/patch';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { objectPath } from '@reroll/shared/kube/objects';
import { isOvertaken } from './overtaken.ts';
import type { WorkloadNow } from '../workload-reader.ts';
import type { Reload, ReloadWay } from './reload-way.ts';

export interface PatchTemplateContext {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  /** Key of the annotation that the annotations strategy writes into the pod template. */
  readonly markerAnnotation: string;
  /** Key of the annotation by which an Argo Rollout asks for a restart of its pods instead of a rollout. */
  readonly rolloutStrategyAnnotation: string;
}

/** As stakater/Reloader: exactly this value, on the workload's own metadata. */
const RESTART = 'restart';

/** Reloads by one JSON Patch of the workload: marker and record. Its own controller then replaces the pods. */
export class PatchTemplate implements ReloadWay {
  readonly #context: PatchTemplateContext;

  constructor(context: PatchTemplateContext) {
    this.#context = context;
  }

  async send({ workload, rolled, record }: Reload): Promise<boolean> {
    const { client, strategy, fieldManager, markerAnnotation, rolloutStrategyAnnotation } = this.#context;
    const patch = reloadPatch({
      metadata: workload.object.metadata,
      template: workload.template,
      templatePath: workload.definition.podTemplatePath,
      strategy,
      rolled,
      record,
      markerAnnotation,
      restart: restartOf(workload, rolloutStrategyAnnotation),
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

/** The field that restarts the pods, if the kind has one and the workload asks for it. */
function restartOf(
  { definition, object }: WorkloadNow,
  annotation: string,
): { path: string; last: number } | undefined {
  const { restartAt } = definition;
  if (!restartAt || annotationOf(object.metadata.annotations ?? {}, annotation) !== RESTART) return undefined;
  const last = Date.parse(restartAt.read(object) ?? '');
  return { path: restartAt.path, last: Number.isNaN(last) ? 0 : Math.floor(last / 1000) };
}
