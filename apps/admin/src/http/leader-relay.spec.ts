import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { relayToLeader, type Leader } from './leader-relay.ts';

const servers: Server[] = [];
const signals: AbortController[] = [];

afterEach(async () => {
  for (const signal of signals.splice(0)) signal.abort();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** Answers every request with its name. */
async function serve(name: string): Promise<Server> {
  const server = createServer((_request, response) => response.end(name));
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that relays to the address, and what makes it the leader. */
async function relay(address: string | undefined): Promise<{ server: Server; lead: () => void }> {
  const server = await serve('itself');
  const { promise, resolve } = Promise.withResolvers<void>();
  let isHere = false;
  const leader: Leader = { isHere: () => isHere, address: () => address, whenHere: () => promise };
  const stop = new AbortController();
  signals.push(stop);
  relayToLeader(server, { leader, signal: stop.signal });
  return {
    server,
    lead: () => {
      isHere = true;
      resolve();
    },
  };
}

async function ask(server: Server): Promise<string> {
  const answer = await fetch(`http://${addressOf(server)}`, { headers: { connection: 'close' } });
  return await answer.text();
}

async function open(server: Server): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

test('whoever asks a process that does not lead is answered by the leader', async () => {
  const { server } = await relay(addressOf(await serve('the leader')));
  expect(await ask(server)).toBe('the leader');
});

test('a long answer reaches a caller who reads slowly, to its end', async () => {
  const size = 16 * 1024 * 1024;
  const leader = createServer((_request, response) => response.end(Buffer.alloc(size)));
  servers.push(leader);
  await once(leader.listen(0, '127.0.0.1'), 'listening');
  const { server } = await relay(addressOf(leader));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  let received = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received += chunk.length;
    await pause(1);
  }
  expect(received).toBeGreaterThan(size);
});

test('a process that leads answers itself, and cuts the connections to the one before it', async () => {
  const { server, lead } = await relay(addressOf(await serve('the leader')));
  const socket = await open(server);
  const cut = once(socket, 'close');
  lead();
  await cut;
  expect(await ask(server)).toBe('itself');
});

test('a process that does not know who leads answers itself', async () => {
  const { server } = await relay(undefined);
  expect(await ask(server)).toBe('itself');
});

test('a leader that cannot be reached disconnects its callers, and one that ends too', async () => {
  const leader = await serve('the leader');
  const { server } = await relay(addressOf(leader));
  const socket = await open(server);
  const cut = once(socket, 'close');
  leader.closeAllConnections();
  leader.close();
  await cut;
  await expect(ask(server)).rejects.toThrow('fetch failed');
});

test('a shutdown is not held up by connections to the leader', async () => {
  const { server } = await relay(addressOf(await serve('the leader')));
  const cut = once(await open(server), 'close');
  for (const signal of signals) signal.abort();
  await cut;
  await expect(ask(server)).rejects.toThrow('fetch failed');
});
