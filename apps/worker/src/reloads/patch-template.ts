import type { AnnotationKeys } from '@reroll/core/annotation-keys';
import { patched } from '@reroll/core/reload/json-patch';
import { reloadPatch, type ReloadStrategy } from '@reroll/core/reload/patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { restartField } from '@reroll/kube/workloads/restart-field';
import { pauseOf } from '../reload/pause-of.ts';
import { isOvertaken } from './overtaken.ts';
import { requireRoom } from '../require-room.ts';
import type { WorkloadNow } from '../reload/workload-reader.ts';
import type { Reload, ReloadWay, Sent } from './reload-way.ts';

export interface PatchTemplateContext {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  readonly keys: AnnotationKeys;
}

/** Reloads by one JSON Patch of the workload: marker and record. Its own controller then replaces the pods. */
export class PatchTemplate implements ReloadWay {
  readonly #context: PatchTemplateContext;

  constructor(context: PatchTemplateContext) {
    this.#context = context;
  }

  async send({ workload, rolled, record, request }: Reload): Promise<Sent | false> {
    const { client, strategy, fieldManager, keys } = this.#context;
    const now = new Date();
    const { definition, object } = workload.written;
    const patch = reloadPatch({
      metadata: object.metadata,
      template: workload.template,
      templatePath: definition.podTemplatePath,
      strategy,
      rolled,
      record,
      request,
      markerAnnotation: keys.lastReloadedFrom,
      restart: restartOf(workload, keys),
      now: Math.floor(now.getTime() / 1000),
      pause: pauseOf(workload, keys) === undefined ? undefined : { key: keys.pausedAt, at: now },
    });
    const template = definition.template(patched(object, patch));
    requireRoom('the pod template', workload.template.metadata?.annotations, template?.metadata?.annotations);
    try {
      const path = objectPath(definition, object.metadata);
      const { body } = await client.patch<KubeObject>(path, patch, { query: { fieldManager } });
      const isOwn = definition.kind === workload.definition.kind;
      return isOwn ? { generation: body.metadata.generation } : {};
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }
}

/** The field that restarts the pods, if the kind has one and the workload asks for it. */
function restartOf(
  { definition, object }: WorkloadNow,
  keys: AnnotationKeys,
): { path: string; last: number } | undefined {
  const restartAt = restartField(definition, object, keys);
  if (!restartAt) return undefined;
  const last = Date.parse(restartAt.read(object) ?? '');
  return { path: restartAt.path, last: Number.isNaN(last) ? 0 : Math.floor(last / 1000) };
}
