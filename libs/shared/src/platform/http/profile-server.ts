/**
 * Serves profiles on a port of its own, only with `--enable-pprof`: `GET /debug/pprof/profile` and `/debug/pprof/heap`,
 * each with `?seconds=N`. It has no authentication.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatListenAddress } from './listen-address.ts';
import type { ListenAddress } from './listen-address.ts';
import { closer, listen } from './listening.ts';
import type { Logger } from '../logging/logging.ts';
import { Profiler } from './profiler.ts';
import type { ProfileKind } from './profiler.ts';
import type { Lifecycle } from '../process/shutdown.ts';

/** Seconds for which a profile is recorded, by default and at most. */
const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 120;

const OPTION = { flag: '--pprof-addr', env: 'REROLL_PPROF_ADDR' };

const KINDS: ReadonlyMap<string, ProfileKind> = new Map([
  ['/debug/pprof/profile', 'cpu'],
  ['/debug/pprof/heap', 'heap'],
]);

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Undefined if it is not a number of seconds from 1 to the maximum. */
function secondsOf(url: URL): number | undefined {
  const text = url.searchParams.get('seconds') ?? String(DEFAULT_SECONDS);
  const seconds = /^\d{1,3}$/u.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= MOST_SECONDS ? seconds : undefined;
}

async function answerTo(request: IncomingMessage, profiler: Profiler, signal: AbortSignal): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const kind = KINDS.get(url.pathname);
  if (kind === undefined) return { status: 404, body: 'not found' };
  if (request.method !== 'GET') return { status: 405, body: 'method not allowed' };
  const seconds = secondsOf(url);
  if (seconds === undefined)
    return { status: 400, body: `seconds: expected a whole number from 1 to ${MOST_SECONDS}` };
  const profile = await profiler.record(kind, seconds * 1_000, signal);
  if (profile === undefined) return { status: 409, body: 'another profile is being recorded' };
  return { status: 200, body: profile };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, {
    'Content-Type': status === 200 ? 'application/json' : 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}

/** Serves profiles until shutdown, if the options enable it. Rejects with a `ListenError`. */
export async function serveProfiles(by: {
  options: { readonly enablePprof: boolean; readonly pprofAddr: ListenAddress };
  log: Logger;
  lifecycle: Pick<Lifecycle, 'onStop' | 'signal'>;
}): Promise<void> {
  const { options, log, lifecycle } = by;
  if (!options.enablePprof) return;
  const profiler = new Profiler();
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, lifecycle.signal]);
    answerTo(request, profiler, signal)
      .catch((error: unknown) => {
        log.failure('cannot record a profile', error);
        return { status: 500, body: 'failed' };
      })
      .then((answer) => send(response, answer))
      .catch(() => undefined);
  });
  const address = await listen(server, options.pprofAddr, OPTION);
  server.on('error', (error) => log.failure('the profile server failed', error));
  const close = closer(server);
  lifecycle.onStop('server of profiles', 2_000, () => close(1_000));
  log.info('serving profiles', { address: formatListenAddress(address) });
}
