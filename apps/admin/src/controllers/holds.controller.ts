import { Controller } from '@nestjs/common';
import { freezeText } from '@reroll/core/holds/freeze';
import { APPROVED_ANNOTATION, FREEZE_ANNOTATION, untilText } from '@reroll/core/holds/hold';
import { keyOf } from '@reroll/core/model';
import { namespacePath, objectPath } from '@reroll/kube/objects';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { CallersCluster } from '../steering/callers-cluster.ts';
import { mustChange, mustSee } from '../steering/must.ts';
import { Writes, type WriteInput } from '../steering/writes.ts';

type Accepted = AnswerOf<'freezeWorkload'>;
type WorkloadParams = Input<'freezeWorkload'>['params'];

/** An annotation of an object that the audit log calls `target`. */
interface Place {
  readonly target: string;
  readonly path: string;
  /** The words that name it after `kubectl reroll freeze`. */
  readonly words: string;
  /** Rejects with a `ProblemError`. */
  readonly allow: () => Promise<void>;
}

interface HoldWrite {
  readonly action:
    | 'freezeWorkload'
    | 'unfreezeWorkload'
    | 'freezeNamespace'
    | 'unfreezeNamespace'
    | 'approveWorkload';
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly command: string;
  readonly reason?: string;
}

/** Freezes and approvals: annotations, written with the rights of the caller (docs/adr/0042). */
@Controller()
export class HoldsController {
  constructor(
    private readonly cluster: CallersCluster,
    private readonly writes: Writes,
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
    input: Input<'freezeWorkload'> | Input<'freezeNamespace'>,
    action: 'freezeWorkload' | 'freezeNamespace',
    place: Place,
  ): Promise<Accepted> {
    const { reason, until } = input.body;
    const end = until === undefined ? undefined : Date.parse(until);
    if (end !== undefined && end <= Date.now()) throw notInFuture();
    return await this.#write(input, place, {
      action,
      annotations: { [FREEZE_ANNOTATION]: freezeText(end, reason) },
      command: `kubectl reroll freeze ${place.words}${until === undefined ? '' : ` --until ${until}`} --reason TEXT`,
      ...(end === undefined ? {} : { reason: `${untilText(end)}: ${reason}` }),
    });
  }

  async #unfreeze(
    input: Input<'unfreezeWorkload'> | Input<'unfreezeNamespace'>,
    action: 'unfreezeWorkload' | 'unfreezeNamespace',
    place: Place,
  ): Promise<Accepted> {
    return await this.#write(input, place, {
      action,
      annotations: { [FREEZE_ANNOTATION]: null },
      command: `kubectl reroll unfreeze ${place.words}`,
    });
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
    allow: () => mustSee(caller, namespace),
  };
}

function notInFuture(): ProblemError {
  return new ProblemError('InvalidRequest', {
    errors: [{ path: 'body.until', expected: 'a time in the future' }],
  });
}
