import { Inject, Injectable } from '@nestjs/common';
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
import { ObjectFacts } from '../objects/object-facts.ts';
import { ShownHashes } from '../shown-hashes.ts';
import { ADMIN_OPTIONS } from '../tokens.ts';
import { CallersCluster } from './callers-cluster.ts';
import { mustChange, mustSee, mustSteer } from './must.ts';
import type { Write } from './writes.ts';

type HoldWrite = Write<void, AnswerOf<'freezeWorkload'>>;
/** What a write needs of the input of its operation. */
type Asked<Id extends HoldOperation> = Pick<Input<Id>, 'params' | 'body' | 'caller' | 'request'>;

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

type Freeze = 'freezeWorkload' | 'freezeNamespace' | 'freezeAll';
type Unfreeze = 'unfreezeWorkload' | 'unfreezeNamespace' | 'unfreezeAll';
type HoldOperation = Freeze | Unfreeze | 'approveWorkload' | 'resumeChange';

interface AnnotationWrite {
  readonly action: HoldOperation;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly command: string;
  readonly reason?: string;
}

/** Freezes, approvals and the end of halts: annotations, written with the rights of the caller (docs/adr/0042). */
@Injectable()
export class HoldWrites {
  constructor(
    private readonly cluster: CallersCluster,
    private readonly facts: ObjectFacts,
    private readonly hashes: ShownHashes,
    @Inject(ADMIN_OPTIONS) private readonly options: Pick<AdminOptions, 'podNamespace'>,
  ) {}

  freezeWorkload(asked: Asked<'freezeWorkload'>): HoldWrite {
    return this.#freeze(asked, 'freezeWorkload', placeOfWorkload(asked));
  }

  unfreezeWorkload(asked: Asked<'unfreezeWorkload'>): HoldWrite {
    return this.#unfreeze(asked, 'unfreezeWorkload', placeOfWorkload(asked));
  }

  freezeNamespace(asked: Asked<'freezeNamespace'>): HoldWrite {
    return this.#freeze(asked, 'freezeNamespace', placeOfNamespace(asked));
  }

  unfreezeNamespace(asked: Asked<'unfreezeNamespace'>): HoldWrite {
    return this.#unfreeze(asked, 'unfreezeNamespace', placeOfNamespace(asked));
  }

  freezeAll(asked: Asked<'freezeAll'>): HoldWrite {
    return this.#freeze(asked, 'freezeAll', this.#placeOfAll(asked));
  }

  unfreezeAll(asked: Asked<'unfreezeAll'>): HoldWrite {
    return this.#unfreeze(asked, 'unfreezeAll', this.#placeOfAll(asked));
  }

  approveWorkload(asked: Asked<'approveWorkload'>): HoldWrite {
    const { id } = asked.body;
    const { target, words, ...place } = placeOfWorkload(asked);
    return this.#annotate(
      asked,
      { ...place, words, target: `${id} ${target}` },
      {
        action: 'approveWorkload',
        annotations: { [APPROVED_ANNOTATION]: id },
        command: `kubectl reroll approve ${words.replace(' ', ` ${id} `)}`,
      },
    );
  }

  resumeChange({ caller, params, body, request }: Asked<'resumeChange'>): HoldWrite {
    const definition = sourceKind(params.kind);
    if (!definition) throw new ProblemError('NotFound');
    const path = objectPath(definition, params);
    const command = `kubectl reroll resume ${params.kind.toLowerCase()}/${params.name} -n ${params.namespace} --reason TEXT`;
    return {
      action: 'resumeChange',
      target: keyOf(params),
      allow: async () => {
        await mustSee(caller, params.namespace);
        if (body.hash !== undefined) await this.#mustHave(keyOf(params), body.hash);
      },
      run: () => this.cluster.resume(request, { path, reason: body.reason, command }),
      answer: (_done, entry) => entry,
    };
  }

  #freeze(asked: Asked<Freeze>, action: Freeze, place: Place): HoldWrite {
    const { reason, until } = asked.body;
    const end = endOf(until);
    return this.#annotate(asked, place, {
      action,
      annotations: { [place.annotation]: freezeText(end, reason) },
      command: `kubectl reroll freeze ${place.words}${until === undefined ? '' : ` --until ${until}`} --reason TEXT`,
      ...(end === undefined ? {} : { reason: `${untilText(end)}: ${reason}` }),
    });
  }

  #unfreeze(asked: Asked<Unfreeze>, action: Unfreeze, place: Place): HoldWrite {
    return this.#annotate(asked, place, {
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

  #placeOfAll({ caller }: Pick<Asked<'freezeAll'>, 'caller'>): Place {
    const { podNamespace } = this.options;
    return {
      target: 'all workloads',
      path: namespacePath(podNamespace),
      words: '--all',
      annotation: FREEZE_ALL_ANNOTATION,
      allow: () => mustSteer(caller),
    };
  }

  #annotate(
    { request }: Pick<Asked<HoldOperation>, 'request'>,
    { target, path, allow }: Place,
    write: AnnotationWrite,
  ): HoldWrite {
    const { annotations, command, ...audited } = write;
    return {
      ...audited,
      target,
      allow,
      run: () => this.cluster.annotate(request, { path, annotations, command }),
      answer: (_done, entry) => entry,
    };
  }
}

function placeOfWorkload({ params, caller }: Pick<Asked<'freezeWorkload'>, 'params' | 'caller'>): Place {
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
}: Pick<Asked<'freezeNamespace'>, 'params' | 'caller'>): Place {
  return {
    target: `Namespace/${namespace}`,
    path: namespacePath(namespace),
    words: `-n ${namespace}`,
    annotation: FREEZE_ANNOTATION,
    allow: () => mustSee(caller, namespace),
  };
}

/** In milliseconds. Throws a `ProblemError` if it is over. */
export function endOf(until: string | undefined): number | undefined {
  if (until === undefined) return undefined;
  const end = Date.parse(until);
  if (end > Date.now()) return end;
  throw new ProblemError('InvalidRequest', {
    errors: [{ path: 'body.until', expected: 'a time in the future' }],
  });
}
