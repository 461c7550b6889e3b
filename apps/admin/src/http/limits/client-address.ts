import { BlockList, isIP } from 'node:net';
import type { Request } from 'express';

/** The maximum number of proxies in a chain. */
const MOST_HOPS = 20;

/** The addresses that requests come from, as trusted proxies report them. */
export class ClientAddresses {
  readonly #proxies = new BlockList();

  /** `--api-trusted-proxies`. */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', prefix] = network.split('/');
      const family = familyOf(address);
      if (prefix === undefined) this.#proxies.addAddress(address, family);
      else this.#proxies.addSubnet(address, Number(prefix), family);
    }
  }

  /** The last address that is not a trusted proxy's. Clients can forge the addresses before it. */
  of({ socket, headers }: Pick<Request, 'socket' | 'headers'>): string {
    let address = unmapped(socket.remoteAddress ?? '');
    for (const before of forwardedFor(headers['x-forwarded-for'])) {
      if (!this.#isTrusted(address) || before === undefined) break;
      address = before;
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#proxies.check(address, familyOf(address));
  }
}

/** The latest first; undefined for what is not an address. */
function forwardedFor(header: string | string[] | undefined): readonly (string | undefined)[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  if (text === '') return [];
  return text
    .split(',')
    .slice(-MOST_HOPS)
    .reverse()
    .map((each) => addressIn(each.trim()));
}

/** Some proxies append a port. */
function addressIn(text: string): string | undefined {
  const { v6, v4 } = /^\[(?<v6>[^\]]+)\](?::\d+)?$|^(?<v4>[\d.]+):\d+$/u.exec(text)?.groups ?? {};
  const address = v6 ?? v4 ?? text;
  return isIP(address) === 0 ? undefined : unmapped(address);
}

function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/iu, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
