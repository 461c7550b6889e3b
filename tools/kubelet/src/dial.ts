import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { joinSockets } from './join-sockets.ts';

export interface Address {
  readonly ip: string;
  readonly port: number;
}

/** Connects to a port of a pod of the kubelet of a folder. Rejects when nothing listens there, or in 5 seconds. */
export async function dial(folder: string, { ip, port }: Address): Promise<Socket> {
  const socket = connect(join(folder, 'dial.sock'));
  try {
    await once(socket, 'connect');
    socket.write(`${ip} ${port}\n`);
    const opened = await new Promise<boolean>((resolve, reject) => {
      socket.once('readable', () => resolve(socket.read(2) !== null));
      socket.once('error', reject);
      socket.once('close', () => resolve(false));
    });
    if (!opened) throw new Error(`expected ${ip}:${port} to accept a connection, it was refused`);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A port of this host that leads to one of a pod, until it is closed. */
export interface Forward {
  readonly port: number;
  close(): void;
}

export async function forward(folder: string, target: () => Address | Promise<Address>): Promise<Forward> {
  const clients = new Set<Socket>();
  const lead = async (client: Socket): Promise<void> => {
    const pod = await dial(folder, await target());
    joinSockets(client, pod);
  };
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => undefined);
    lead(client).catch(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}
