import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClusterError, messageOf } from './errors.ts';
import { identify, isAlive } from './identity.ts';
import { STATE_FILE, type State, claimState, readState, startedComponents } from './state.ts';

/** Everything that a cluster writes into its folder; nothing else there is ever removed. */
const OWNED = [
  'etcd',
  'certs',
  'kwok',
  'redis',
  'logs',
  'node',
  'kubeconfig',
  'tokens.csv',
  'service-account.key',
  'audit-policy.yaml',
  'audit.log',
  `${STATE_FILE}.draft`,
  STATE_FILE,
];

/**
 * Takes a folder for one cluster, creating it when needed, and leaves a state file of phase `starting`.
 * What a crashed cluster left there is removed first.
 * @throws ClusterError when one runs or starts there, or when files of the same names are not ours.
 */
export function claimFolder(dir: string): State {
  const previous = readState(dir);
  if (previous !== undefined) {
    refuseWhenRunning(previous);
    removeFolder(previous);
  }
  const createdFrom = makeFolder(dir);
  const foreign = OWNED.filter((name) => existsSync(join(dir, name)));
  if (foreign.length > 0) {
    throw new ClusterError(
      `expected ${dir} to have no ${foreign.join(', ')}, which a cluster would write: give an empty folder`,
    );
  }
  const owner = identify(process.pid);
  const token = randomBytes(16).toString('hex');
  const state: State = { version: 1, dir, createdFrom, owner, phase: 'starting', token, components: {} };
  if (!claimState(state)) throw new ClusterError(`another process is starting a cluster in ${dir}`);
  return state;
}

function refuseWhenRunning(state: State): void {
  const { dir, owner, phase } = state;
  if (phase === 'starting' && isAlive(owner)) {
    throw new ClusterError(
      `process ${owner.pid} is starting a cluster in ${dir}: wait for it, or give another folder`,
    );
  }
  const running = startedComponents(state).filter(isAlive);
  if (running.length === 0) return;
  const list = running.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
  throw new ClusterError(`a cluster runs in ${dir} already: ${list}. Stop it first, or give another folder`);
}

function makeFolder(dir: string): string | undefined {
  try {
    return mkdirSync(dir, { recursive: true });
  } catch (error) {
    throw new ClusterError(`expected a folder that can be written to, given ${dir}: ${messageOf(error)}`);
  }
}

/** Removes what a cluster wrote, then its folder if it is empty, and the parents that were made for it. */
export function removeFolder(state: State): void {
  const { dir, createdFrom } = state;
  for (const name of OWNED) rmSync(join(dir, name), { recursive: true, force: true });
  let folder = dir;
  while (isEmpty(folder)) {
    rmdirSync(folder);
    if (createdFrom === undefined || folder === createdFrom) return;
    folder = dirname(folder);
  }
}

function isEmpty(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length === 0;
}
