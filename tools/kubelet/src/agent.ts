// node agent.ts FOLDER IP — runs in the node's network namespace, started by node-agent.ts, and ends with it.
// Listens on the addresses of Services in the place of kube-proxy, and on FOLDER/dial.sock for connections into pods:
// whoever connects there writes `ADDRESS PORT\n`, is answered `+\n`, and then talks to the pod.
import { execFileSync } from 'node:child_process';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { joinSockets } from './join-sockets.ts';
import type { ProxyRow } from './service-table.ts';

const [, , folder = '', ip = 'ip'] = process.argv;
const CONNECT_MS = 5_000;

/** Listeners by `address port`; their targets change, they stay. */
const listeners = new Map<string, { server: Server; targets: readonly string[]; next: number }>();
const addresses = new Set<string>();

process.on('disconnect', () => process.exit());
process.on('message', ({ id, rows }: { id: number; rows: readonly ProxyRow[] }) => {
  void apply(rows).then(
    () => process.send?.({ id }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
createServer(serveDial).listen(join(folder, 'dial.sock'), () => process.send?.({ id: 0 }));

async function apply(rows: readonly ProxyRow[]): Promise<void> {
  for (const row of rows) addAddress(row.ip);
  // Without targets nothing listens: a client is refused at once.
  const served = rows.filter(({ targets }) => targets.length > 0);
  const wanted = new Map(served.map((row) => [`${row.ip} ${row.port}`, row]));
  for (const [key, { server }] of listeners) {
    if (wanted.has(key)) continue;
    listeners.delete(key);
    server.close();
  }
  for (const [key, row] of wanted) await serve(key, row);
}

async function serve(key: string, row: ProxyRow): Promise<void> {
  const known = listeners.get(key);
  if (known) {
    known.targets = row.targets;
    return;
  }
  const entry = { server: createServer(), targets: row.targets, next: 0 };
  entry.server.on('connection', (client) => {
    entry.next += 1;
    joinSockets(client, open(entry.targets[entry.next % entry.targets.length] ?? ''));
  });
  listeners.set(key, entry);
  await new Promise<void>((resolve, reject) => {
    entry.server.once('error', reject);
    entry.server.listen(row.port, row.ip, resolve);
  });
}

function addAddress(address: string): void {
  if (addresses.has(address)) return;
  execFileSync(ip, ['addr', 'add', `${address}/32`, 'dev', 'lo']);
  addresses.add(address);
}

/** `unix:PATH` or `address:port`. */
function open(target: string): Socket {
  if (target.startsWith('unix:')) return connect(target.slice(5));
  const colon = target.lastIndexOf(':');
  return connect(Number(target.slice(colon + 1)), target.slice(0, colon));
}

function serveDial(client: Socket): void {
  client.on('error', () => undefined);
  client.once('readable', () => {
    const line = (client.read() as Buffer | null)?.toString() ?? '';
    const [address = '', port = ''] = line.trim().split(' ');
    const target = connect(Number(port), address);
    const give = (): void => void client.destroy();
    target.setTimeout(CONNECT_MS, give);
    target.on('error', give);
    target.once('connect', () => {
      target.setTimeout(0);
      client.write('+\n');
      joinSockets(client, target);
    });
  });
}
