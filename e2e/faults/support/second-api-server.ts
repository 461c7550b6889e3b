import type { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { freePort } from '../../../tools/cluster/src/servers/ports.ts';
import { isReady } from '../../../tools/cluster/src/servers/probe.ts';
import { readState } from '../../../tools/cluster/src/state.ts';
import { cleanUp } from '../../support/cleanup.ts';
import { App } from '../../support/processes.ts';
import { eventually } from '../../support/wait.ts';
import { linkTo, portOf } from './cluster.ts';

export interface SecondApiServer {
  readonly port: number;
  /** Its way to etcd: frozen, it goes on serving what it knew. */
  readonly etcd: TcpProxy;
}

/** Another kube-apiserver on the cluster's etcd. It ends with the test or the file. */
export async function secondApiServer(cluster: Cluster): Promise<SecondApiServer> {
  const state = readState(cluster.dir);
  const first = state?.components.apiserver;
  if (!state || !first) throw new Error(`expected an API server in ${cluster.dir}`);
  const etcd = await linkTo(portOf(cluster, 'etcd'));
  const port = await freePort();
  const own: Readonly<Record<string, string>> = {
    '--secure-port': String(port),
    '--etcd-servers': `http://127.0.0.1:${etcd.port}`,
  };
  const args = first.args.map((arg) => {
    const [flag = ''] = arg.split('=', 1);
    return flag in own ? `${flag}=${own[flag]}` : arg;
  });
  const app = new App({ name: 'apiserver-2', command: first.command, args, env: {} });
  cleanUp(() => app.discard());
  const what = 'the second API server to be ready';
  await eventually(() => app.isRunning && isReady({ ...first, port }, state), { what, within: 60_000 });
  return { port, etcd };
}
