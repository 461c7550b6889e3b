import { carrierIn } from '../references/references.ts';
import { envVarName } from '../marker/env-var-name.ts';
import { DELETED_MARKER_HASH } from '../marker/marker-hash.ts';
import { lastReloadedFrom } from '../marker/last-reloaded-from.ts';
import type { Annotations, EnvVar, PodTemplate, SourceKind } from '../model.ts';
import { RECORD_ANNOTATION } from '../record/record.ts';
import { patched, pointer, type PatchOperation } from './json-patch.ts';
import { pauseOperations } from './pause.ts';
import { REQUEST_ANNOTATION } from './request.ts';

export type ReloadStrategy = 'env-vars' | 'annotations';

/** A source for which the pods are replaced. */
export interface RolledSource {
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
  /** Found by auto or search, so only a container that uses the source can carry the marker. */
  readonly auto: boolean;
  /** stakater/Reloader's hash of the data (SHA-1, hex), or `DELETED_MARKER_HASH`. */
  readonly markerHash: string;
}

/** The input for the markers in a pod template. */
export interface MarkerInput {
  readonly template: PodTemplate;
  readonly strategy: ReloadStrategy;
  readonly rolled: readonly RolledSource[];
  /** The annotation that the annotations strategy writes into the pod template. */
  readonly markerAnnotation: string;
  /** Unix seconds, for `observedAt`. */
  readonly now: number;
  /** Id of a manual reload. It goes into the pod template even if no source needs a reload. */
  readonly request?: string | undefined;
}

export interface PatchInput extends MarkerInput {
  /** The workload as read. */
  readonly metadata: {
    readonly uid: string;
    readonly generation?: number | undefined;
    readonly annotations?: Annotations | undefined;
  };
  /** JSON Pointer to the pod template, e.g. `/spec/template`. */
  readonly templatePath: string;
  readonly record: string;
  /**
   * Restarts the pods by this field instead of by a changed template. In Unix seconds, `last` is its value, 0 if unset, and `now` the
   * clock by which pods are created.
   */
  readonly restart?: { readonly path: string; readonly last: number; readonly now: number } | undefined;
  /** Pauses the rollout; `key` is the annotation that holds the time. Default: no pause. */
  readonly pause?: { readonly key: string; readonly at: Date } | undefined;
}

/** Returns the pod template with its markers, for ways of reloading that write a whole object. */
export function markedTemplate(input: MarkerInput): PodTemplate {
  return patched(input.template, markerOperations({ ...input, templatePath: '' }));
}

/**
 * Returns one JSON Patch that reloads the workload for every source in `rolled` and writes the record. It applies only to the
 * object that was read: it tests the uid, the generation (the spec has not changed) and the previous record (`null` tests that
 * there is none). Without sources it only writes the record.
 */
export function reloadPatch(input: PatchInput): PatchOperation[] {
  const { pause } = input;
  return [
    ...preconditions(input),
    ...recordOperations(input),
    ...(pause && isRolled(input) ? pauseOperations(pause.key, pause.at) : []),
    ...markerOperations(input),
  ];
}

function isRolled({ rolled, request }: MarkerInput): boolean {
  return rolled.length > 0 || request !== undefined;
}

function preconditions({ metadata }: PatchInput): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/generation', value: metadata.generation ?? null },
  ];
}

function recordOperations({ metadata, record }: PatchInput): PatchOperation[] {
  if (!metadata.annotations) {
    return [
      { op: 'test', path: '/metadata/annotations', value: null },
      { op: 'add', path: '/metadata/annotations', value: { [RECORD_ANNOTATION]: record } },
    ];
  }
  const path = pointer('/metadata/annotations', RECORD_ANNOTATION);
  return [
    { op: 'test', path, value: metadata.annotations[RECORD_ANNOTATION] ?? null },
    { op: 'add', path, value: record },
  ];
}

/** The markers, and where the pod template is. */
type Placed = MarkerInput & Pick<PatchInput, 'templatePath' | 'restart'>;

function markerOperations(input: Placed): PatchOperation[] {
  if (input.restart) return isRolled(input) ? restartOperations(input.restart, input) : [];
  return [
    ...sourceMarkers(input),
    ...(input.request === undefined ? [] : requestMarker(input, input.request)),
  ];
}

/** Added after the markers of sources, which may have created the annotations. */
function requestMarker(input: Placed, request: string): PatchOperation[] {
  const { template, templatePath } = input;
  const { metadata } = patched(template, sourceMarkers({ ...input, templatePath: '' }));
  const base = `${templatePath}/metadata`;
  const annotations = { [REQUEST_ANNOTATION]: request };
  if (metadata?.annotations)
    return [{ op: 'add', path: pointer(`${base}/annotations`, REQUEST_ANNOTATION), value: request }];
  return metadata
    ? [{ op: 'add', path: `${base}/annotations`, value: annotations }]
    : [{ op: 'add', path: base, value: { annotations } }];
}

function sourceMarkers(input: Placed): PatchOperation[] {
  const last = input.rolled.at(-1);
  if (!last) return [];
  if (input.strategy === 'annotations') return annotationMarker(input, last);
  const operations = envVarMarkers(input);
  // Two sources can share a variable (`a.b` and `a-b`). If it already has the value, the variable alone would restart nothing.
  return operations.length > 0 ? operations : annotationMarker(input, last);
}

/**
 * Sets the second after this one: some pods of this second have the old data, and times are whole seconds. Sets a later one if the
 * field already has that value, because nothing would restart otherwise.
 */
function restartOperations(
  { path: field, last, now }: NonNullable<PatchInput['restart']>,
  { request }: MarkerInput,
): PatchOperation[] {
  const at = last === now + 1 ? now + 2 : now + 1;
  const value = new Date(at * 1000).toISOString().replace('.000Z', 'Z');
  // The pod template stays unchanged: the request's id goes into the workload's annotations, beside the record.
  const path = pointer('/metadata/annotations', REQUEST_ANNOTATION);
  const asked: PatchOperation[] = request === undefined ? [] : [{ op: 'add', path, value: request }];
  return [{ op: 'add', path: field, value }, ...asked];
}

function annotationMarker(input: Placed, source: RolledSource): PatchOperation[] {
  const key = input.markerAnnotation;
  const annotations = input.template.metadata?.annotations;
  const container = containerFinder(input.template)(source);
  const build = (observedAt: number): string =>
    lastReloadedFrom({ ...source, hash: source.markerHash, containerRefs: [container.name], observedAt });
  const text = build(input.now);
  const value = annotations?.[key] === text ? build(input.now + 1) : text;
  const base = `${input.templatePath}/metadata`;
  if (annotations) return [{ op: 'add', path: pointer(`${base}/annotations`, key), value }];
  if (input.template.metadata) {
    return [{ op: 'add', path: `${base}/annotations`, value: { [key]: value } }];
  }
  return [{ op: 'add', path: base, value: { annotations: { [key]: value } } }];
}

/** Returns the variables to set, by the index of their container. If two sources share a name, the later one wins. */
function envVarMarkers(input: Placed): PatchOperation[] {
  const wanted = new Map<number, Map<string, string>>();
  const containerOf = containerFinder(input.template);
  for (const source of input.rolled.filter(({ markerHash }) => markerHash !== DELETED_MARKER_HASH)) {
    const { index } = containerOf(source);
    const variables = wanted.get(index) ?? new Map<string, string>();
    wanted.set(index, variables.set(envVarName(source.kind, source.name), source.markerHash));
  }
  const gone = new Set(
    input.rolled
      .filter(({ markerHash }) => markerHash === DELETED_MARKER_HASH)
      .map(({ kind, name }) => envVarName(kind, name)),
  );
  return (input.template.spec?.containers ?? []).flatMap(({ env }, index) => {
    const path = `${input.templatePath}/spec/containers/${index}/env`;
    const variables = wanted.get(index) ?? new Map<string, string>();
    // If a deleted source shares its variable with one that exists, the data of the latter counts.
    const isRemoved = (name: string): boolean => gone.has(name) && !variables.has(name);
    return [...envOperations(env ?? undefined, variables, path), ...removals(env ?? [], isRemoved, path)];
  });
}

function envOperations(
  env: readonly EnvVar[] | undefined,
  variables: ReadonlyMap<string, string>,
  path: string,
): PatchOperation[] {
  if (!env) {
    const value = [...variables].map(([name, hash]) => ({ name, value: hash }));
    return value.length === 0 ? [] : [{ op: 'add', path, value }];
  }
  // Of several variables with one name the first counts.
  const indexes = new Map([...env.entries()].reverse().map(([index, { name }]) => [name, index] as const));
  return [...variables].flatMap(([name, value]): PatchOperation[] => {
    const index = indexes.get(name);
    if (index === undefined) return [{ op: 'add', path: `${path}/-`, value: { name, value } }];
    if (env[index]?.value === value) return [];
    return [{ op: 'replace', path: `${path}/${index}`, value: { name, value } }];
  });
}

/** Removes the last entry first, so that no index shifts. Each is removed only if it is the entry that was read. */
function removals(
  env: readonly EnvVar[],
  isRemoved: (name: string) => boolean,
  path: string,
): PatchOperation[] {
  const gone = [...env.entries()].filter(([, { name }]) => isRemoved(name));
  return gone.reverse().flatMap(([index, entry]): PatchOperation[] => [
    { op: 'test', path: `${path}/${index}`, value: entry },
    { op: 'remove', path: `${path}/${index}` },
  ]);
}

/** Reads the pod template once, however many sources are asked for. */
function containerFinder({ spec }: PodTemplate): (source: RolledSource) => { index: number; name: string } {
  const carrierOf = carrierIn(spec ?? {});
  return (source) => {
    const index = carrierOf(source, source.auto);
    const name = index === null ? undefined : spec?.containers?.[index]?.name;
    if (index === null || name === undefined) {
      throw new RangeError(`expected a container that can carry the marker of ${source.kind} ${source.name}`);
    }
    return { index, name };
  };
}
