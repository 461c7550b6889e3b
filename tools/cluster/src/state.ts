import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError, messageOf } from './errors.ts';
import type { Identity } from './identity.ts';

/** In the order in which they are shown. */
export const COMPONENTS = [
  'etcd',
  'apiserver',
  'controllerManager',
  'scheduler',
  'kwok',
  'node',
  'redis',
] as const;

export type ComponentName = (typeof COMPONENTS)[number];

/** A container that the command of a component runs in the foreground. */
export interface Container {
  /** `docker` or `podman`. */
  readonly runtime: string;
  readonly name: string;
}

/** How a component is started, the first time and after every kill. */
export interface Launch {
  readonly name: ComponentName;
  readonly command: string;
  readonly args: readonly string[];
  /** The port on 127.0.0.1 that it serves on. */
  readonly port: number;
  readonly container?: Container;
}

/** A component that was started: its last run. */
export interface Component extends Launch, Identity {
  readonly logFile: string;
}

/** All that another process needs to look at, stop or repair what runs in a folder. */
export interface State {
  readonly version: 1;
  /** Absolute. */
  readonly dir: string;
  /** The outermost folder that had to be created for `dir`; undefined when `dir` was there. */
  readonly createdFrom?: string | undefined;
  /** The process that started it. */
  readonly owner: Identity;
  /** `starting` until everything has answered. */
  readonly phase: 'starting' | 'ready';
  /** Bearer token of the cluster's admin; also what tells one cluster in a folder from the next. */
  readonly token: string;
  readonly components: Readonly<Partial<Record<ComponentName, Component>>>;
}

export const STATE_FILE = 'state.json';

/**
 * The state of a folder; undefined when nothing was started there.
 * @throws ClusterError when the file is not one that this version wrote.
 */
export function readState(dir: string): State | undefined {
  const path = join(dir, STATE_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return parseState(path, text);
}

function parseState(path: string, text: string): State {
  let state: Partial<State>;
  try {
    state = JSON.parse(text) as Partial<State>;
  } catch (error) {
    throw new ClusterError(`expected ${path} to be JSON: ${messageOf(error)}`);
  }
  if (state.version !== 1) {
    throw new ClusterError(`expected ${path} to have version 1, found ${String(state.version)}`);
  }
  return state as State;
}

/** Replaces the state file in one step. Synchronous: it follows a spawn with nothing in between. */
export function writeState(state: State): void {
  const path = join(state.dir, STATE_FILE);
  writeFileSync(`${path}.draft`, stateText(state), { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}

/** The first state of a folder, whole for whoever reads it. Returns false when there is one already. */
export function claimState(state: State): boolean {
  const path = join(state.dir, STATE_FILE);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, stateText(state), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

function stateText(state: State): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** The components that were started, in the order of `COMPONENTS`. */
export function startedComponents(state: State): Component[] {
  return COMPONENTS.map((name) => state.components[name]).filter((component) => component !== undefined);
}
