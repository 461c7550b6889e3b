import { Controller, Inject } from '@nestjs/common';
import { freezeText } from '@reroll/core/holds/freeze';
import {
  APPROVED_ANNOTATION,
  FREEZE_ALL_ANNOTATION,
  FREEZE_ANNOTATION,
  untilText,
} from '@reroll/core/holds/hold';
import { keyOf, type SourceKey } from '@reroll/core/model';
import { namespacePath, objectPath } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { ObjectFacts } from '../objects/object-facts.ts';
import { ShownHashes } from '../shown-hashes.ts';
import { CallersCluster } from '../steering/callers-cluster.ts';
import { mustChange, mustSee, mustSteer } from '../steering/must.ts';
import { Writes, type WriteInput } from '../steering/writes.ts';
import { ADMIN_OPTIONS } from '../tokens.ts';

type Accepted = AnswerOf<'freezeWorkload'>;
type WorkloadParams = Input<'freezeWorkload'>['params'];

/** An annotation of an object that the audit log calls `target`. */
interface Place {
  readonly target: string;
  readonly path: string;
  /** The words that name it after `kubectl reroll freeze`. */
  readonly words: string;
  /** The annotation that freezes it. */
  readonly annotation: string;
  /** Rejects with a `ProblemError`. */
  readonly allow: () => Promise<void>;
}

interface HoldWrite {
  readonly action:
    | 'freezeWorkload'
    | 'unfreezeWorkload'
    | 'freezeNamespace'
    | 'unfreezeNamespace'
    | 'freezeAll'
    | 'unfreezeAll'
    | 'approveWorkload';
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly command: string;
  readonly reason?: string;
}

/** Freezes, approvals and the end of halts: annotations, written with the rights of the caller (docs/adr/0042). */
@Controller()
export class HoldsController {
  constructor(
    private readonly cluster: CallersCluster,
    private readonly writes: Writes,
    private readonly facts: ObjectFacts,
    private readonly hashes: ShownHashes,
    @Inject(ADMIN_OPTIONS) private readonly options: Pick<AdminOptions, 'podNamespace'>,
  ) {}

  @Serves('freezeWorkload')
  async freeze(input: Input<'freezeWorkload'>): Promise<Accepted> {
    return await this.#freeze(input, 'freezeWorkload', placeOfWorkload(input));
  }

  @Serves('unfreezeWorkload')
  async unfreeze(input: Input<'unfreezeWorkload'>): Promise<Accepted> {
    return await this.#unfreeze(input, 'unfreezeWorkload', placeOfWorkload(input));
  }

  @Serves('freezeNamespace')
  async freezeNamespace(input: Input<'freezeNamespace'>): Promise<Accepted> {
    return await this.#freeze(input, 'freezeNamespace', placeOfNamespace(input));
  }

  @Serves('unfreezeNamespace')
  async unfreezeNamespace(input: Input<'unfreezeNamespace'>): Promise<Accepted> {
    return await this.#unfreeze(input, 'unfreezeNamespace', placeOfNamespace(input));
  }

  @Serves('freezeAll')
  async freezeAll(input: Input<'freezeAll'>): Promise<Accepted> {
    return await this.#freeze(input, 'freezeAll', this.#placeOfAll(input));
  }

  @Serves('unfreezeAll')
  async unfreezeAll(input: Input<'unfreezeAll'>): Promise<Accepted> {
    return await this.#unfreeze(input, 'unfreezeAll', this.#placeOfAll(input));
  }

  @Serves('resumeChange')
  async resume(input: Input<'resumeChange'>): Promise<Accepted> {
    const { caller, params, body, request } = input;
    const definition = sourceKind(params.kind);
    if (!definition) throw new ProblemError('NotFound');
    const path = objectPath(definition, params);
    const command = `kubectl reroll resume ${params.kind.toLowerCase()}/${params.name} -n ${params.namespace} --reason TEXT`;
    return await this.writes.perform(input, {
      action: 'resumeChange',
      target: keyOf(params),
      allow: async () => {
        await mustSee(caller, params.namespace);
        if (body.hash !== undefined) await this.#mustHave(keyOf(params), body.hash);
      },
      run: () => this.cluster.resume(request, { path, reason: body.reason, command }),
      answer: (_done, entry) => entry,
    });
  }

  @Serves('approveWorkload')
  async approve(input: Input<'approveWorkload'>): Promise<Accepted> {
    const { id } = input.body;
    const { target, words, ...place } = placeOfWorkload(input);
    return await this.#write(
      input,
      { ...place, words, target: `${id} ${target}` },
      {
        action: 'approveWorkload',
        annotations: { [APPROVED_ANNOTATION]: id },
        command: `kubectl reroll approve ${words.replace(' ', ` ${id} `)}`,
      },
    );
  }

  async #freeze(
    input: Input<'freezeWorkload'> | Input<'freezeNamespace'> | Input<'freezeAll'>,
    action: 'freezeWorkload' | 'freezeNamespace' | 'freezeAll',
    place: Place,
  ): Promise<Accepted> {
    const { reason, until } = input.body;
    const end = until === undefined ? undefined : Date.parse(until);
    if (end !== undefined && end <= Date.now()) throw notInFuture();
    return await this.#write(input, place, {
      action,
      annotations: { [place.annotation]: freezeText(end, reason) },
      command: `kubectl reroll freeze ${place.words}${until === undefined ? '' : ` --until ${until}`} --reason TEXT`,
      ...(end === undefined ? {} : { reason: `${untilText(end)}: ${reason}` }),
    });
  }

  async #unfreeze(
    input: Input<'unfreezeWorkload'> | Input<'unfreezeNamespace'> | Input<'unfreezeAll'>,
    action: 'unfreezeWorkload' | 'unfreezeNamespace' | 'unfreezeAll',
    place: Place,
  ): Promise<Accepted> {
    return await this.#write(input, place, {
      action,
      annotations: { [place.annotation]: null },
      command: `kubectl reroll unfreeze ${place.words}`,
    });
  }

  /** Rejects with `Conflict` unless the source has the data that the caller has seen. */
  async #mustHave(key: SourceKey, hash: string): Promise<void> {
    const row = (await this.facts.sourceRows([key])).get(key);
    if (row?.exists === true && this.hashes.shown(key, row.hash) === hash) return;
    throw new ProblemError('Conflict', { detail: 'the source has other data now; nothing is resumed' });
  }

  #placeOfAll({ caller }: Pick<Input<'freezeAll'>, 'caller'>): Place {
    const { podNamespace } = this.options;
    return {
      target: 'all workloads',
      path: namespacePath(podNamespace),
      words: '--all',
      annotation: FREEZE_ALL_ANNOTATION,
      allow: () => mustSteer(caller),
    };
  }

  async #write(input: WriteInput, { target, path, allow }: Place, write: HoldWrite): Promise<Accepted> {
    const { annotations, command, ...audited } = write;
    return await this.writes.perform(input, {
      ...audited,
      target,
      allow,
      run: () => this.cluster.annotate(input.request, { path, annotations, command }),
      answer: (_done, entry) => entry,
    });
  }
}

function placeOfWorkload({
  params,
  caller,
}: Pick<Input<'freezeWorkload'>, 'caller'> & { params: WorkloadParams }): Place {
  const { kind, namespace, name } = params;
  const definition = workloadKind(kind);
  if (!definition) throw new ProblemError('NotFound');
  const target = keyOf(params);
  return {
    target,
    path: objectPath(definition, params),
    words: `${kind.toLowerCase()}/${name} -n ${namespace}`,
    annotation: FREEZE_ANNOTATION,
    allow: () => mustChange(caller, target),
  };
}

function placeOfNamespace({
  params: { namespace },
  caller,
}: Pick<Input<'freezeNamespace'>, 'caller' | 'params'>): Place {
  return {
    target: `Namespace/${namespace}`,
    path: namespacePath(namespace),
    words: `-n ${namespace}`,
    annotation: FREEZE_ANNOTATION,
    allow: () => mustSee(caller, namespace),
  };
}

function notInFuture(): ProblemError {
  return new ProblemError('InvalidRequest', {
    errors: [{ path: 'body.until', expected: 'a time in the future' }],
  });
}
