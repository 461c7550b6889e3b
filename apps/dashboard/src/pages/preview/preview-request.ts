import type { PreviewRequest } from '@reroll/shared/api/explain';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { isSourceKind, refOf, type Ref } from '../../names.ts';

/** The fields of the form, as they were filled in. */
export interface Asked {
  readonly of: 'source' | 'workload';
  readonly key: string;
  readonly annotations: string;
  readonly podAnnotations: string;
}

type SourceRef = Extract<PreviewRequest, { of: 'source' }>['source'];
type WorkloadRef = Extract<PreviewRequest, { of: 'workload' }>['workload'];

/** The request that was meant, or what is wrong with it, in words. */
export function requestOf({ of, key, annotations, podAnnotations }: Asked): PreviewRequest | string {
  const ref = refOf(key);
  if (!ref || !isOf(ref, of)) {
    return `Expected kind/namespace/name of a ${of}, given ${key === '' ? 'nothing' : key}.`;
  }
  const own = annotationsOf(annotations);
  const pods = annotationsOf(podAnnotations);
  if (typeof own === 'string') return own;
  if (typeof pods === 'string') return pods;
  if (of === 'source') {
    return { of, source: ref as SourceRef, ...(annotations.trim() === '' ? {} : { annotations: own }) };
  }
  const template = podAnnotations.trim() === '' ? {} : { podAnnotations: pods };
  return { of, workload: ref as WorkloadRef, annotations: own, ...template };
}

/** Lines `key: value`, as they are copied from YAML; quotes around a value are taken away. Or what is wrong. */
export function annotationsOf(text: string): Record<string, string> | string {
  const annotations: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, key, value] = /^["']?([^\s"':]+)["']?\s*:\s*(.*)$/.exec(trimmed) ?? [];
    if (key === undefined || value === undefined) {
      return `Expected lines like reloader.stakater.com/auto: "true", given ${trimmed}.`;
    }
    annotations[key] = value.replace(/^(["'])(.*)\1$/, '$2');
  }
  return annotations;
}

function isOf({ kind }: Ref, of: Asked['of']): boolean {
  return of === 'source' ? isSourceKind(kind) : WORKLOAD_KINDS.some((each) => each === kind);
}
