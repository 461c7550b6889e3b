import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { HashKeys } from '@reroll/core/record/record-hash';
import { patched, type PatchOperation } from '@reroll/core/reload/json-patch';
import { pauseWish } from '@reroll/core/reload/pause';
import { reloadPatch, type PatchInput, type ReloadStrategy } from '@reroll/core/reload/patch';
import { unreadPatch } from '@reroll/core/reload/unread-patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { restartField } from '@reroll/kube/workloads/restart-field';
import { requireRoom } from '../../require-room.ts';
import type { WorkloadNow } from '../workload-reader.ts';
import { isOvertaken, type Reload, type ReloadWay, type Sent } from './reload-way.ts';

export interface PatchTemplateContext {
  readonly client: Pick<KubeClient, 'patch' | 'apiTime'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  readonly keys: AnnotationKeys;
  readonly hashKeys: HashKeys;
}

/** Reloads by one JSON Patch of the workload, with marker and record. The workload's controller then replaces the pods. */
export class PatchTemplate implements ReloadWay {
  readonly #context: PatchTemplateContext;

  constructor(context: PatchTemplateContext) {
    this.#context = context;
  }

  async send(reload: Reload): Promise<Sent | false | undefined> {
    const { client, fieldManager } = this.#context;
    const { definition, object } = reload.workload.written;
    const patch = reload.workload.unread ? this.#unreadPatch(reload) : this.#patch(reload);
    if (!patch) return undefined;
    try {
      const path = objectPath(definition, object.metadata);
      const { body } = await client.patch<KubeObject>(path, patch, { query: { fieldManager } });
      const isOwn = definition.kind === reload.workload.definition.kind;
      return isOwn ? { generation: body.metadata.generation } : {};
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }

  requireRoom(reload: Reload): void {
    this.#patch(reload);
  }

  #unreadPatch({ workload, rolled, record }: Reload): PatchOperation[] | undefined {
    const { keys, hashKeys } = this.#context;
    const { podTemplatePath: templatePath } = workload.definition;
    return (
      workload.unread && unreadPatch({ ...workload.unread, templatePath, rolled, record, keys, hashKeys })
    );
  }

  /** Throws a `JobError` if there is no room in the annotations of the pod template. */
  #patch({ workload, rolled, record, request }: Reload): PatchOperation[] {
    const { client, strategy, keys } = this.#context;
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
      restart: restartOf(workload, keys, client.apiTime()),
      now: Math.floor(now.getTime() / 1000),
      pause: pauseOf(workload, keys) === undefined ? undefined : { key: keys.pausedAt, at: now },
    });
    const template = definition.template(patched(object, patch));
    requireRoom('the pod template', workload.template.metadata?.annotations, template?.metadata?.annotations);
    return patch;
  }
}

/** The field that restarts the pods, if the kind has one and the workload asks for its use. `now`: see `KubeClient.apiTime`. */
function restartOf(
  { definition, object }: WorkloadNow,
  keys: AnnotationKeys,
  now: number,
): PatchInput['restart'] {
  const restartAt = restartField(definition, object, keys);
  if (!restartAt) return undefined;
  const last = Date.parse(restartAt.read(object) ?? '');
  return {
    path: restartAt.path,
    last: Number.isNaN(last) ? 0 : Math.floor(last / 1000),
    now: Math.floor(now / 1000),
  };
}

/**
 * Milliseconds for which a reload pauses the rollout of this workload. Undefined if it does not, or if the workload is
 * already paused by its owner or by an earlier reload, whose pause then holds back this one too.
 */
export function pauseOf(
  { definition, object, observed }: Pick<WorkloadNow, 'definition' | 'object' | 'observed'>,
  keys: AnnotationKeys,
): number | undefined {
  const wish = pauseWish(observed, keys);
  return wish.state === 'pause' && definition.isPaused?.(object) === false ? wish.period : undefined;
}
