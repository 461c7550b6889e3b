import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Socket } from 'node:net';
import { ensureHelmPrograms } from './ensure-helm.ts';

export interface RenderRequest {
  readonly chart: string;
  readonly release: string;
  readonly namespace: string;
  readonly values: unknown;
  /** APIs that the cluster has besides its own. */
  readonly apis: readonly string[];
}

/** What `helm template` prints, and the notes, which it does not print; `error` if it refuses. */
export interface HelmAnswer {
  readonly text: string;
  readonly notes: string;
  readonly error?: string;
}

type Resolve = (answer: HelmAnswer) => void;

/** Most of what helm does is to allocate: with the heap that it needs here it takes half the time. */
const FEW_COLLECTIONS = { GOGC: '400' };

let renderer: Promise<(asked: RenderRequest) => Promise<HelmAnswer>> | undefined;

/** What `helm template` answers, by tools/helm: the first call starts it, and it ends with this process. */
export async function renderByHelm(asked: RenderRequest): Promise<HelmAnswer> {
  renderer ??= startRenderer();
  return await (
    await renderer
  )(asked);
}

async function startRenderer(): Promise<(asked: RenderRequest) => Promise<HelmAnswer>> {
  const { renderer: program } = await ensureHelmPrograms({ log: console.log });
  const child = spawn(program, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...FEW_COLLECTIONS },
  });
  await once(child, 'spawn');
  const waiting = new Map<number, { resolve: Resolve; reject: (error: Error) => void }>();
  let last = 0;
  const hold = (isBusy: boolean): void => {
    // What nobody waits for keeps no process alive.
    for (const each of [child, child.stdin as Socket, child.stdout as Socket]) {
      if (isBusy) each.ref();
      else each.unref();
    }
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...answer } = JSON.parse(line) as HelmAnswer & { id: number };
    waiting.get(id)?.resolve(answer);
    waiting.delete(id);
    hold(waiting.size > 0);
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the renderer ended: ${code ?? signal}`));
    renderer = undefined;
  });
  hold(false);
  return (asked) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      hold(true);
      child.stdin.write(`${JSON.stringify({ id: last, ...asked })}\n`);
    });
}
