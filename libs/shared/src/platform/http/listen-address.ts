/** Where a server listens: `:9090` (every interface), `127.0.0.1:0` (a free port), `[::1]:9090`, `localhost:9090`. */
export interface ListenAddress {
  /** Undefined means every interface. */
  readonly host: string | undefined;
  /** 0 means a free port. */
  readonly port: number;
}

const ADDRESS = /^(?:\[(?<ipv6>[0-9a-fA-F:.%]+)\]|(?<host>[A-Za-z0-9._-]+))?:(?<port>\d{1,5})$/u;

/** The parts of an address; undefined if the text is not one. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const parts = ADDRESS.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const port = Number(parts['port']);
  if (port > 65_535) return undefined;
  return { host: parts['ipv6'] ?? parts['host'], port };
}

/** The text that `parseListenAddress` reads as this address. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  if (host === undefined) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
