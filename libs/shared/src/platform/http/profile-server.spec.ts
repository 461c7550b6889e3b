import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../logging/logging.ts';
import { serveProfiles } from './profile-server.ts';
import type { StopStep } from '../process/shutdown.ts';

const SECRET = 'hunter2-s3cr3t';
const steps: StopStep[] = [];
let end = new AbortController();

afterEach(async () => {
  end.abort();
  for (const step of steps.splice(0)) await step(AbortSignal.abort());
  end = new AbortController();
});

/** `http://127.0.0.1:PORT`, or undefined if nothing is served. */
async function serve(enablePprof = true): Promise<string | undefined> {
  const lines: string[] = [];
  await serveProfiles({
    options: { enablePprof, pprofAddr: { host: '127.0.0.1', port: 0 } },
    log: createLogger({ format: 'json', level: 'info', sink: { write: (line) => lines.push(line) } }),
    lifecycle: { signal: end.signal, onStop: (_name, _deadline, step) => void steps.push(step) },
  });
  const address = /"address":"([^"]+)"/u.exec(lines.join(''))?.[1];
  return address === undefined ? undefined : `http://${address}`;
}

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/debug/pprof/heap?seconds=1`);
  await answer.arrayBuffer();
  return answer.status;
}

/** Requests a profile of two minutes and waits until it is being recorded: further requests get 409. */
async function recording(url: string): Promise<ClientRequest> {
  for (;;) {
    const answer = { came: false };
    const asked = request(`${url}/debug/pprof/profile?seconds=120`);
    asked.on('error', () => undefined).once('response', () => (answer.came = true));
    asked.end();
    while (!answer.came) if ((await statusOf(url)) === 409) return asked;
    asked.destroy(); // another one was being recorded
  }
}

interface CpuProfile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string } }[];
  readonly samples: readonly number[];
}

describe('profiles', () => {
  it('are not served unless they are asked for', async () => {
    expect(await serve(false)).toBeUndefined();
    expect(steps).toEqual([]);
  });

  it('of the CPU have the stacks that were sampled', async () => {
    const url = await serve();
    const answer = await fetch(`${url}/debug/pprof/profile?seconds=1`);
    const profile = (await answer.json()) as CpuProfile;
    expect(answer.status).toBe(200);
    expect(profile.nodes[0]?.callFrame.functionName).toBe('(root)');
    expect(profile.samples.length).toBeGreaterThan(0);
  });

  it('of the heap have places in the code and no values', async () => {
    const url = await serve();
    const held: string[] = [];
    const timer = setInterval(() => held.push(`${SECRET}-${held.length}`.repeat(20_000)), 5);
    const answer = await fetch(`${url}/debug/pprof/heap?seconds=1`);
    clearInterval(timer);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(held.length).toBeGreaterThan(0);
    expect(JSON.parse(text)).toMatchObject({ head: { callFrame: { functionName: '(root)' } } });
    expect(text).not.toContain(SECRET);
  });

  it('are recorded one at a time, and a reader who goes away ends his', async () => {
    const url = String(await serve());
    const first = await recording(url);
    first.destroy();
    await expect.poll(() => statusOf(url), { timeout: 20_000 }).toBe(200);
  });

  it.each(['0', '121', '-1', '1.5', 'x', ''])('of %j seconds are refused', async (seconds) => {
    const answer = await fetch(`${await serve()}/debug/pprof/profile?seconds=${seconds}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toBe('seconds: expected a whole number from 1 to 120');
  });

  it.each(['/', '/metrics', '/debug/pprof/', '/debug/pprof/snapshot', '/debug/pprof/goroutine'])(
    'are not at %s',
    async (path) => {
      expect((await fetch(`${await serve()}${path}`)).status).toBe(404);
    },
  );

  it('that are being recorded when the end comes are cut short', async () => {
    const first = await recording(String(await serve()));
    const answered = once(first, 'response') as Promise<[IncomingMessage]>;
    end.abort();
    const [answer] = await answered;
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });
});
