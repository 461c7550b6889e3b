import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NotYet } from '../errors.ts';
import type { ReadData } from './environment.ts';
import { podField, resourceField } from './fields.ts';
import type { Item, KeyedSource, Pod, ProjectedPart, TokenSource, Volume } from '../types.ts';

interface FileOptions {
  readonly pod: Pod;
  readonly ip: string;
  /** Where the volumes of the pod are kept. */
  readonly folder: string;
  readonly read: ReadData;
  /** Undefined: the file stays as it is. */
  readonly token: (source: TokenSource) => Promise<string | undefined>;
}

export interface VolumeOptions extends FileOptions {
  /** Folder of a claim that is bound. @throws NotYet until then. */
  readonly claim: (name: string) => Promise<string>;
}

/** A file of a volume: its content and mode. */
interface VolumeFile {
  readonly content: Buffer;
  readonly mode: number;
}

type VolumeFiles = Map<string, VolumeFile>;

/** A volume on this machine. `keyed` ones (of ConfigMaps, Secrets, tokens) are read-only whatever a mount says. */
export interface MadeVolume {
  readonly path: string;
  readonly keyed: boolean;
}

const DEFAULT_MODE = 0o644;

/** Makes the volumes of a pod. @throws NotYet while something that they need is missing. */
export async function makeVolumes(options: VolumeOptions): Promise<Map<string, MadeVolume>> {
  const made = new Map<string, MadeVolume>();
  for (const volume of options.pod.spec.volumes ?? []) made.set(volume.name, await make(volume, options));
  return made;
}

/** Brings into the volumes what has changed since in ConfigMaps and Secrets. Tokens stay, and so do keys that are gone. */
export async function refreshVolumes(options: Omit<FileOptions, 'token'>): Promise<void> {
  const { spec } = options.pod;
  const keyed = (spec.volumes ?? []).filter((volume) => !volume.emptyDir && !volume.persistentVolumeClaim);
  for (const volume of keyed) {
    const files = await filesOf(volume, { ...options, token: () => Promise.resolve(undefined) });
    const path = join(options.folder, volume.name);
    for (const [name, file] of files) writeVolumeFile(join(path, name), file, spec.securityContext?.fsGroup);
  }
}

async function make(volume: Volume, options: VolumeOptions): Promise<MadeVolume> {
  const group = options.pod.spec.securityContext?.fsGroup;
  if (volume.persistentVolumeClaim) {
    const path = await options.claim(volume.persistentVolumeClaim.claimName);
    giveToGroup(path, group);
    return { path, keyed: volume.persistentVolumeClaim.readOnly === true };
  }
  const path = join(options.folder, volume.name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, volume.emptyDir ? 0o777 : 0o755);
  if (volume.emptyDir) {
    giveToGroup(path, group);
    return { path, keyed: false };
  }
  const files = await filesOf(volume, options);
  for (const [name, file] of files) writeVolumeFile(join(path, name), file, group);
  return { path, keyed: true };
}

async function filesOf(volume: Volume, options: FileOptions): Promise<VolumeFiles> {
  const { secret, projected } = volume;
  if (projected) return await projectedFiles(projected, options);
  if (secret) {
    const mode = secret.defaultMode ?? DEFAULT_MODE;
    return await keyedFiles('Secret', { ...secret, name: secret.secretName ?? '' }, { mode, options });
  }
  const source = volume.configMap ?? volume.downwardAPI;
  if (source) return await partFiles(volume, source.defaultMode ?? DEFAULT_MODE, options);
  throw new NotYet('ContainerCreating', `volume ${volume.name}: this kubelet has no volumes of its kind`);
}

async function projectedFiles(
  { sources = [], defaultMode = DEFAULT_MODE }: NonNullable<Volume['projected']>,
  options: FileOptions,
): Promise<VolumeFiles> {
  const files: VolumeFiles = new Map();
  for (const part of sources) {
    for (const [name, file] of await partFiles(part, defaultMode, options)) files.set(name, file);
  }
  return files;
}

async function partFiles(part: ProjectedPart, mode: number, options: FileOptions): Promise<VolumeFiles> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = part;
  if (configMap) return await keyedFiles('ConfigMap', configMap, { mode, options });
  if (secret) return await keyedFiles('Secret', secret, { mode, options });
  if (serviceAccountToken) {
    const token = await options.token(serviceAccountToken);
    if (token === undefined) return new Map();
    return new Map([[serviceAccountToken.path, { content: Buffer.from(token), mode }]]);
  }
  const items = (downwardAPI?.items ?? []).map(({ path, fieldRef, resourceFieldRef }) => {
    const text = resourceFieldRef
      ? resourceField(options.pod.spec.containers, resourceFieldRef, '')
      : podField(options.pod, fieldRef?.fieldPath ?? '', options.ip);
    return [path, { content: Buffer.from(text), mode }] as const;
  });
  return new Map(items);
}

async function keyedFiles(
  kind: 'ConfigMap' | 'Secret',
  source: KeyedSource,
  { mode, options }: { mode: number; options: FileOptions },
): Promise<VolumeFiles> {
  const { name = '', optional = false } = source;
  const data = await options.read(kind, name);
  if (data === undefined && !optional) throw new NotYet('ContainerCreating', `${kind} ${name} not found`);
  const files: VolumeFiles = new Map();
  for (const item of itemsOf(source, data)) {
    const content = data?.get(item.key);
    if (content !== undefined) files.set(item.path, { content, mode: item.mode ?? mode });
    else if (!optional) throw new NotYet('ContainerCreating', `key ${item.key} of ${kind} ${name} not found`);
  }
  return files;
}

function itemsOf(source: KeyedSource, data: ReadonlyMap<string, Buffer> = new Map()): readonly Item[] {
  return source.items ?? [...data.keys()].map((key) => ({ key, path: key }));
}

/** As a whole, if it is not so already. With a group of the pod, its members may read what the owner may. */
function writeVolumeFile(path: string, { content, mode }: VolumeFile, group: number | undefined): void {
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path)}.new`);
  writeFileSync(draft, content);
  chmodSync(draft, group === undefined ? mode : mode | 0o440);
  if (group !== undefined) chownSync(draft, 0, group);
  renameSync(draft, path);
}

function giveToGroup(path: string, group: number | undefined): void {
  if (group === undefined) return;
  chownSync(path, 0, group);
  chmodSync(path, 0o2775);
}
