import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventWriter, SlowReaderError } from './event-writer.ts';

const PIECE = { text: 'x'.repeat(64 * 1024) };

const server = createServer();
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A request whose client reads only when told to, and the writer of its response. */
async function paused(): Promise<{ client: ReturnType<typeof connect>; writer: EventWriter }> {
  const client = connect(port, '127.0.0.1');
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const writer = new EventWriter(response as Response, gone.signal, { mostBehind: 200 });
  return { client, writer };
}

/** Sends until the connection's buffers are full, and then once more. */
async function flood(writer: EventWriter): Promise<number> {
  for (let sent = 0; ; sent += 1) {
    // At the reader's pace.
    await writer.send('1-1', 'change', PIECE);
    if (sent > 10_000) return sent;
  }
}

describe('a reader that does not read', () => {
  it('is given up once it is too far behind', async () => {
    const { client, writer } = await paused();
    await expect(flood(writer)).rejects.toBeInstanceOf(SlowReaderError);
    client.destroy();
  });

  it('that goes away is not waited for', async () => {
    const { client, writer } = await paused();
    const flooding = flood(writer);
    client.destroy();
    expect(await flooding).toBeGreaterThan(10_000);
  });
});
