import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { parseListenAddress } from '@reroll/shared/platform/http/listen-address';
import type { RequestHandler } from 'express';
import { ProblemError } from './problem-error.ts';

/** Milliseconds in which the leader takes a connection. */
const CONNECTS_WITHIN = 2_000;
/** Milliseconds of silence after which it is asked whether the other end is there. */
const PROBES_AFTER = 30_000;

/** Who answers, where each process has a Redis of its own. A process that does not lead knows nothing. */
export interface Leader {
  isHere(): boolean;
  /** Of another process: `10.0.0.5:8080`; undefined: nobody leads, or it is not known. */
  address(): string | undefined;
  /** Resolves when this process leads, or the signal fires. */
  whenHere(signal: AbortSignal): Promise<void>;
}

/**
 * While this process does not lead, connects callers to the leader, byte by byte, so that TLS and streams pass as they are.
 * Serves them itself once it leads, and if it does not know who does. A caller whose leader cannot be reached is disconnected.
 */
export function relayToLeader(
  server: Server,
  { leader, signal }: { leader: Leader; signal: AbortSignal },
): void {
  const listeners = server.listeners('connection');
  const relayed = new Set<Socket>();
  server.removeAllListeners('connection');
  server.on('connection', (caller: Socket) => {
    if (signal.aborted) {
      caller.destroy();
      return;
    }
    const { host, port } = leader.isHere() ? {} : (parseListenAddress(leader.address() ?? '') ?? {});
    if (host === undefined || port === undefined) {
      for (const listener of listeners) listener.call(server, caller);
      return;
    }
    relayed.add(caller);
    caller.once('close', () => relayed.delete(caller));
    join(caller, connect({ host, port, keepAlive: true, keepAliveInitialDelay: PROBES_AFTER }));
  });
  // They lead to a process that leads no more, or hold up the shutdown.
  void leader.whenHere(signal).then(() => relayed.forEach((caller) => caller.destroy()));
  signal.addEventListener('abort', () => relayed.forEach((caller) => caller.destroy()), { once: true });
}

/** Either end takes the other one with it; the caller when it has everything that the leader sent. */
function join(caller: Socket, upstream: Socket): void {
  const cut = (): void => {
    caller.destroy();
    upstream.destroy();
  };
  caller.on('error', cut).on('close', cut);
  upstream.on('error', cut).on('close', () => caller.destroySoon());
  upstream.setTimeout(CONNECTS_WITHIN, cut);
  upstream.once('connect', () => upstream.setTimeout(0));
  caller.pipe(upstream).pipe(caller);
}

/** Answers 503 while another process leads that is not known. */
export function refuseUnlessLeader(leader: Leader): RequestHandler {
  return (_request, _response, next) => {
    const detail = 'this process does not lead, and does not know where the one is that does';
    next(leader.isHere() ? undefined : new ProblemError('Unavailable', { detail }));
  };
}
