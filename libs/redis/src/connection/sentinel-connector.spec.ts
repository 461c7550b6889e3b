import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { openRedis } from './redis.ts';

const redis = useRealRedis();

const silent = { onDown: () => undefined, onUp: () => undefined };

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

/** A Sentinel that can be told to report a failover in the middle of an answer, which a real one does by chance only. */
class FakeSentinel {
  readonly subscribers = new Set<Socket>();
  /** How often it was asked for the master. */
  asked = 0;
  reportsWhileAsked = false;
  readonly #master: string;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  constructor(master: string) {
    this.#master = master;
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.subscribers.delete(socket));
    socket.on('data', (data) => {
      const commands = data.toString().matchAll(/\r\n(hello|client|sentinel|subscribe)\r\n/giu);
      for (const [, command = ''] of commands) void this.#answer(socket, command.toLowerCase());
    });
  }

  async #answer(socket: Socket, command: string): Promise<void> {
    if (command === 'subscribe') {
      this.subscribers.add(socket);
      socket.write(`*3\r\n${bulk('subscribe')}${bulk('+switch-master')}:1\r\n`);
    } else if (command === 'sentinel') {
      this.asked += 1;
      if (this.reportsWhileAsked) await this.#report();
      const [host = '', port = ''] = this.#master.split(':');
      socket.write(`*2\r\n${bulk(host)}${bulk(port)}`);
    } else {
      socket.write(`-ERR unknown command '${command}'\r\n`);
    }
  }

  async #report(): Promise<void> {
    const message = `*3\r\n${bulk('message')}${bulk('+switch-master')}${bulk('main')}`;
    for (const subscriber of this.subscribers) subscriber.write(message);
    await pause(100);
  }
}

it('connects again when Sentinels report a failover while they are asked for the master', async () => {
  const sentinel = new FakeSentinel(new URL(redis.url).host);
  const address = await sentinel.listen();
  const [host = '', port = ''] = address.split(':');
  const client = openRedis(
    { redisSentinels: [{ host, port: Number(port) }], redisSentinelMaster: 'main' },
    silent,
  );
  onTestFinished(() => {
    client.disconnect();
    sentinel.stop();
  });
  await client.ping();
  await expect.poll(() => sentinel.subscribers.size).toBe(1);
  const before = sentinel.asked;

  sentinel.reportsWhileAsked = true;
  await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

  await expect.poll(() => sentinel.asked).toBeGreaterThan(before);
  expect(await client.ping()).toBe('PONG');
});
