import { type Socket, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly tls?: boolean;
}

const TIMEOUT_MS = 2000;

/**
 * Asks a Redis one inline command over a connection of its own.
 * Returns the first line of the reply with its type sign (`+PONG`, `-NOAUTH …`), or the text of a
 * bulk reply; undefined when nothing answers within two seconds.
 */
export async function askRedis(address: RedisAddress, command: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const socket = open(address);
    let received = '';
    const finish = (reply: string | undefined): void => {
      socket.destroy();
      resolve(reply);
    };
    socket.setTimeout(TIMEOUT_MS, () => finish(undefined));
    socket.setEncoding('utf8');
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
    socket.on('data', (chunk: string) => {
      received += chunk;
      const reply = parseReply(received);
      if (reply !== undefined) finish(reply);
    });
    socket.write(`${command}\r\n`);
  });
}

function open({ host, port, tls = false }: RedisAddress): Socket {
  return tls ? connectTls({ host, port, servername: host }) : connect({ host, port });
}

/** Undefined while the reply is not complete. Bulk replies asked for here are ASCII. */
function parseReply(text: string): string | undefined {
  const end = text.indexOf('\r\n');
  if (end < 0) return undefined;
  const first = text.slice(0, end);
  if (!first.startsWith('$')) return first;
  const length = Number(first.slice(1));
  const bulk = text.slice(end + 2);
  return bulk.length < length ? undefined : bulk.slice(0, length);
}
