import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../../../tools/cluster/src/cluster.ts';
import { placeOf } from '../../../../tools/cluster/src/node/place.ts';
import { cleanUp } from '../../../support/cleanup.ts';
import { MARK, folderOf, variableOf } from './pod-objects.ts';
import type { PlannedUse } from './plans.ts';

const CGROUPS = '/sys/fs/cgroup';
const LOOK_EVERY_MS = 200;

interface Run {
  readonly pid: number;
  /** Its container's cgroup. */
  readonly folder: string;
  /** `POD/CONTAINER` */
  readonly name: string;
  readonly variables: ReadonlyMap<string, string>;
  /** Of an init container, what each folder held when it was first seen. */
  readonly files: ReadonlyMap<string, string> | undefined;
}

/**
 * Sees what processes on the real node see: their environment and, below their own root, their files. Nothing runs in a container for
 * it, and the API server is not asked. It ends init containers once it has seen what they were given.
 */
export class Witness {
  readonly #pods: string;
  /** By the id of the container; also those that have ended. */
  readonly #runs = new Map<string, Run>();

  /** It goes on until the file ends. */
  constructor({ dir, ports }: Cluster) {
    const { cgroup } = placeOf(dir, ports.apiserver ?? 0);
    // With version 1 there is one below each controller.
    const root = existsSync(join(CGROUPS, 'cgroup.controllers')) ? CGROUPS : join(CGROUPS, 'pids');
    this.#pods = join(root, cgroup, 'kubepods/besteffort');
    const timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    cleanUp(() => clearInterval(timer));
  }

  /** What a container has of a source, '' if nothing; undefined if it is not known, or the container does not run. */
  seenBy(id: string, use: PlannedUse): string | undefined {
    const run = this.#runs.get(id) ?? this.#find(id);
    if (run === undefined) return undefined;
    const isFile = use.by === 'volume' || use.by === 'subPath';
    if (run.files !== undefined)
      return isFile ? run.files.get(folderOf(use)) : (run.variables.get(variableOf(use)) ?? '');
    if (!isAlive(run)) return undefined;
    return isFile ? fileOf(run.pid, folderOf(use)) : (run.variables.get(variableOf(use)) ?? '');
  }

  /** The ids of the containers that run now, by `POD/CONTAINER`; without the init containers. */
  running(): ReadonlyMap<string, string> {
    this.#look();
    const running = [...this.#runs].filter(([, run]) => run.files === undefined && isAlive(run));
    return new Map(running.map(([id, { name }]) => [name, id]));
  }

  /** Kills the process of a container, if it runs. */
  kill(container: string): void {
    const run = this.#runs.get(this.running().get(container) ?? '');
    if (run !== undefined) process.kill(run.pid, 'SIGKILL');
  }

  #look(): void {
    for (const pod of foldersIn(this.#pods))
      for (const id of foldersIn(join(this.#pods, pod))) {
        const run = this.#runs.get(id) ?? this.#read(id, join(this.#pods, pod, id));
        if (run?.files !== undefined && isAlive(run)) end(run.pid);
      }
  }

  #find(id: string): Run | undefined {
    this.#look();
    return this.#runs.get(id);
  }

  /** Undefined before the process of the container has begun, and for those of others. */
  #read(id: string, folder: string): Run | undefined {
    const [pid] = pidsOf(folder);
    const text = pid === undefined ? undefined : textOf(`/proc/${pid}/environ`);
    if (pid === undefined || text === undefined) return undefined;
    const variables = new Map(text.split('\0').map(nameAndValue));
    const name = variables.get(MARK.name);
    if (name === undefined) return undefined;
    const files = variables.get(MARK.role) === 'init' ? filesOf(pid) : undefined;
    const run: Run = { pid, folder, name, variables, files };
    if (!isAlive(run)) return undefined;
    this.#runs.set(id, run);
    return run;
  }
}

function nameAndValue(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

function pidsOf(folder: string): number[] {
  const text = textOf(join(folder, 'cgroup.procs')) ?? '';
  return text.split('\n').filter(Boolean).map(Number);
}

/** Whether its process is still in the cgroup of its container, so that nobody else has its number. */
function isAlive({ pid, folder }: Run): boolean {
  return pidsOf(folder).includes(pid);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** '' if the folder is there, but no file in it. */
function fileOf(pid: number, folder: string): string | undefined {
  const inside = `/proc/${pid}/root${folder}`;
  return textOf(join(inside, 'value')) ?? (existsSync(inside) ? '' : undefined);
}

function filesOf(pid: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const by of ['volume', 'subPath'] as const)
    for (const source of foldersIn(`/proc/${pid}/root/${by}`)) {
      const folder = `/${by}/${source}`;
      const text = fileOf(pid, folder);
      if (text !== undefined) found.set(folder, text);
    }
  return found;
}

function textOf(file: string): string | undefined {
  return unlessGone(() => readFileSync(file, 'utf8'));
}

function foldersIn(folder: string): string[] {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Processes and cgroups go at any moment. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENODEV') return undefined;
    throw error;
  }
}
