import { jsonOf } from '../json.ts';
import type { Container, EnvVar, PodTemplate, SourceKind } from '../model.ts';
import { isSameScheme, textHash, type HashKeys } from '../record/record-hash.ts';
import { podUses } from '../references/pod-uses.ts';
import { work } from '../work.ts';
import { envVarName } from './env-var-name.ts';

/**
 * Where the markers of a pod template are, and which containers carry new ones: what a patch of the template needs, so that a reload
 * does not have to read the workload. Valid for the generation of the workload that it was taken from, and of no use to anybody
 * who does not have the rest of the row.
 */
export interface MarkerPlaces {
  /** For each source in `uses`: the index of the container that carries its marker. */
  readonly carriers: readonly number[];
  /** For each container, the variables that are markers; null if it has no `env`. */
  readonly containers: readonly (readonly MarkerPlace[] | null)[];
}

/** A marker: its index in `marks`, its index in `env`, and the hash of its value under the hash key, cut short. */
type MarkerPlace = readonly [mark: number, at: number, hash: string];

/** What a row knows of the template beside the places. */
interface TemplateNames {
  /** `<kind>/<name>` of the sources. */
  readonly uses: readonly string[];
  /** Names of the variables that are markers. */
  readonly marks: readonly string[];
}

/** Longer texts are neither kept nor believed: such a workload is read before it is patched. */
const MOST_CHARACTERS = 1_024;
/** Enough of a hash (48 bits) to tell two markers of one variable apart. */
const HASH_CHARACTERS = 8;
/** More of them cannot be told in that many characters, so they are not looked at. */
const MOST_MARKS = 64;
const MOST_USES = MOST_CHARACTERS / 2;

/**
 * Returns the places as text, for the row; undefined if that were too long. Takes time for the size of the pod template, and hashes at
 * most 64 markers.
 */
export function markerPlaces(
  { spec }: PodTemplate,
  { uses, marks }: TemplateNames,
  keys: HashKeys,
): string | undefined {
  if (uses.length > MOST_USES || marks.length > MOST_MARKS) return undefined;
  const ofPod = podUses(spec ?? {});
  const carriers = uses.map((name) => ofPod.containerOf(refOf(name)) ?? 0);
  // Of two marks with one name the first counts, as `indexOf` finds it.
  const markOf = new Map(marks.map((name, mark) => [name, mark] as const).reverse());
  const containers = (spec?.containers ?? []).map(({ env }) => (env ? placesIn(env, markOf, keys) : null));
  const text = JSON.stringify([carriers, containers]);
  return text.length > MOST_CHARACTERS ? undefined : text;
}

/** Of several variables with one name the first counts. */
function placesIn(
  env: readonly EnvVar[],
  markOf: ReadonlyMap<string, number>,
  keys: HashKeys,
): MarkerPlace[] {
  const found = new Set<string>();
  return env.flatMap(({ name, value }, at): MarkerPlace[] => {
    const mark = markOf.get(name);
    if (mark === undefined || found.has(name)) return [];
    found.add(name);
    work.hashedMarkers += 1;
    return [[mark, at, shortHash(value ?? '', keys)]];
  });
}

function shortHash(value: string, keys: HashKeys): string {
  const hash = textHash(value, keys);
  return hash.slice(0, hash.indexOf('.') + 1 + HASH_CHARACTERS);
}

/**
 * Reads the text of a row with so many uses; undefined if it is not valid or does not fit the row, because others may be able to write
 * to Redis.
 */
export function readMarkerPlaces(text: string | undefined, uses: number): MarkerPlaces | undefined {
  if (text === undefined || text.length > MOST_CHARACTERS) return undefined;
  const [carriers, containers] = listOf(jsonOf(text));
  if (!Array.isArray(carriers) || !Array.isArray(containers)) return undefined;
  const isValid =
    carriers.length === uses &&
    carriers.every((carrier) => isIndex(carrier) && carrier < containers.length) &&
    containers.every((each) => each === null || (Array.isArray(each) && each.every(isPlace)));
  return isValid ? { carriers, containers } : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isPlace(value: unknown): boolean {
  const [mark, at, hash] = listOf(value);
  return isIndex(mark) && isIndex(at) && typeof hash === 'string';
}

/**
 * Returns a pod template that has nothing but containers, markers (without values) and what they use of ConfigMaps and Secrets, so
 * that a patch of it is one of the template that the places were taken from.
 */
export function templateSketch(places: MarkerPlaces, { uses, marks }: TemplateNames): PodTemplate {
  const containers = places.containers.map((found, index) => ({
    name: `container-${index}`,
    envFrom: uses.filter((_, use) => places.carriers[use] === index).flatMap(envFromOf),
    ...(found ? { env: envOf(found, marks) } : {}),
  }));
  return { spec: { containers } };
}

/** Not of a SecretProviderClass, which is no part of an environment. */
function envFromOf(use: string): NonNullable<Container['envFrom']> {
  const { kind, name } = refOf(use);
  if (kind === 'ConfigMap') return [{ configMapRef: { name } }];
  return kind === 'Secret' ? [{ secretRef: { name } }] : [];
}

function envOf(places: readonly MarkerPlace[], marks: readonly string[]): EnvVar[] {
  const last = Math.max(-1, ...places.map(([, at]) => at));
  const env: EnvVar[] = Array.from({ length: last + 1 }, () => ({ name: '' }));
  for (const [mark, at] of places) env[at] = { name: marks[mark] ?? '' };
  return env;
}

/**
 * Whether a marker with this value certainly changes the template. False if the variable has the value, or if its hash is under
 * another key.
 */
export function isNewMarker(
  places: MarkerPlaces,
  { marks }: Pick<TemplateNames, 'marks'>,
  marker: {
    readonly kind: SourceKind;
    readonly name: string;
    readonly value: string;
    readonly keys: HashKeys;
  },
): boolean {
  const mark = marks.indexOf(envVarName(marker.kind, marker.name));
  const hash = shortHash(marker.value, marker.keys);
  return places.containers.every((found) =>
    (found ?? []).every(([of, , held]) => of !== mark || (isSameScheme(held, hash) && held !== hash)),
  );
}

function refOf(name: string): { kind: SourceKind; name: string } {
  const slash = name.indexOf('/');
  return { kind: name.slice(0, slash) as SourceKind, name: name.slice(slash + 1) };
}
