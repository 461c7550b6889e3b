import type { PodTemplate } from '../model.ts';
import type { SourceRef } from '../references/pod-uses.ts';
import { carrierIn } from '../references/references.ts';
import { envVarName } from './env-var-name.ts';
import { parseLastReloadedFrom } from './last-reloaded-from.ts';

/** Returns the hashes in a source's markers, from Reroll or stakater/Reloader. */
export type TemplateMarks = (source: SourceRef) => readonly string[];

/** Reads the pod template once, however many sources are asked for. `annotation` is the marker of the annotations strategy. */
export function templateMarks({ metadata, spec }: PodTemplate, annotation: string): TemplateMarks {
  const carrierOf = carrierIn(spec ?? {});
  // Of several variables with one name the first counts.
  const variables = (spec?.containers ?? []).map(
    ({ env }) => new Map((env ?? []).map(({ name, value }) => [name, value] as const).reverse()),
  );
  const text = metadata?.annotations?.[annotation];
  const last = text === undefined ? undefined : parseLastReloadedFrom(text);
  return (source) => {
    const variable = variables[carrierOf(source, false) ?? -1]?.get(envVarName(source.kind, source.name));
    const isLast = last?.kind === source.kind && last.name === source.name;
    return [variable, isLast ? last.hash : undefined].filter((hash) => hash !== undefined);
  };
}
