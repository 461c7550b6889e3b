/** What reloads write into pod templates. */
import { parseLastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import { templateOf } from './objects.ts';
import { SOURCES, type KubeObject, type PodTemplate, type SourceRef } from './shapes.ts';

const LAST_RELOADED_FROM = 'reloader.stakater.com/last-reloaded-from';

type Variable = { readonly name: string; readonly value?: string };

function marksOf(template: PodTemplate | undefined): Map<string, string | undefined> {
  if (!template) return new Map();
  const { metadata, spec } = template;
  const variables = spec.containers.flatMap(({ env = [] }) => env as Variable[]);
  const marks = variables.filter(({ name }) => name.startsWith('STAKATER_'));
  const last = metadata?.annotations?.[LAST_RELOADED_FROM];
  return new Map([
    ...marks.map(({ name, value }) => [name, value] as const),
    ...(last === undefined ? [] : [[LAST_RELOADED_FROM, last] as const]),
  ]);
}

/** The variable that marks a container with the source. */
export function variableOf(ref: string): string {
  const [kind = '', name = ''] = ref.split('/');
  return `STAKATER_${name.replace('-', '_').toUpperCase()}_${kind.toUpperCase()}`;
}

/** Whether a container has the source's variable. */
export function hasVariable(template: PodTemplate | undefined, ref: string): boolean {
  return marksOf(template).has(variableOf(ref));
}

/** The sources for which the write put another marker into the pod template. */
export function newMarks(before: KubeObject, after: KubeObject): SourceRef[] {
  if (!('spec' in after)) return [];
  const old = marksOf(templateOf(before));
  const marks = [...marksOf(templateOf(after))].filter(([name, value]) => value !== old.get(name));
  return SOURCES.filter((ref) => marks.some(([name, value]) => isMarkOf(ref, name, value)));
}

function isMarkOf(ref: SourceRef, name: string, value: string | undefined): boolean {
  if (name !== LAST_RELOADED_FROM) return name === variableOf(ref);
  const last = parseLastReloadedFrom(value ?? '');
  return last !== undefined && ref === `${last.kind}/${last.name}`;
}
