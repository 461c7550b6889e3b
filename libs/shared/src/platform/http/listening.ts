/** How a server starts to listen, and how it closes. */
import type { Server } from 'node:http';
import { trustMessagesOf } from '../logging/error-fields.ts';
import { formatListenAddress } from './listen-address.ts';
import type { ListenAddress } from './listen-address.ts';

/** The option that the address comes from. */
export interface AddressOption {
  readonly flag: string;
  readonly env: string;
}

export class ListenError extends Error {
  readonly code: string;

  constructor(address: ListenAddress, { flag, env }: AddressOption, code: string) {
    super(
      `${flag}: expected an address that is free and ours; given ${formatListenAddress(address)} (${code}). ` +
        `Choose another with ${flag} or ${env}; port 0 picks a free one`,
    );
    this.name = 'ListenError';
    this.code = code;
  }
}
trustMessagesOf(ListenError);

/** Resolves with the address and, for port 0, the assigned port. Rejects with a `ListenError`. */
export function listen(
  server: Server,
  address: ListenAddress,
  option: AddressOption,
): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ListenError(address, option, error.code ?? 'unknown'));
    });
    server.listen(
      { port: address.port, ...(address.host === undefined ? {} : { host: address.host }) },
      () => {
        const bound = server.address();
        const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
        resolve({ host: address.host, port });
      },
    );
  });
}

/**
 * Returns a function that closes the server: it takes no new requests, lets those under way finish for `deadline`
 * milliseconds, then drops every connection. Resolves when all are closed; may be called again.
 */
export function closer(server: Server): (deadline: number) => Promise<void> {
  let closed: Promise<void> | undefined;
  return (deadline) => {
    closed ??= new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), deadline);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
    return closed;
  };
}
