import { existsSync, readFileSync } from 'node:fs';
import { kubeAccess } from '../kube-api.ts';
import { nodeIsReady } from '../node/objects.ts';
import { certificateFile } from './apiserver.ts';
import { answersOk } from './http.ts';
import { askRedis } from './redis-protocol.ts';
import type { Component, ComponentName, State } from '../state.ts';

/** Made from nothing but the state, so that any process can ask. */
const PROBES: Readonly<Record<ComponentName, (component: Component, state: State) => Promise<boolean>>> = {
  etcd: async ({ port }) => await answersOk({ url: `http://127.0.0.1:${port}/health` }),
  apiserver: async ({ port }, state) =>
    await secureOk(state, { port, path: '/readyz', headers: { authorization: `Bearer ${state.token}` } }),
  controllerManager: async ({ port }, state) => await secureOk(state, { port, path: '/healthz' }),
  scheduler: async ({ port }, state) => await secureOk(state, { port, path: '/healthz' }),
  kwok: async ({ port }) => await answersOk({ url: `http://127.0.0.1:${port}/healthz` }),
  node: async (_node, state) => {
    const { dir, token, components } = state;
    return await nodeIsReady(kubeAccess({ dir, token, port: components.apiserver?.port ?? 0 }));
  },
  redis: async (component) => await redisIsReady(component),
};

/** Asks a component whether it is ready; anything that goes wrong means no. */
export async function isReady(component: Component, state: State): Promise<boolean> {
  return await PROBES[component.name](component, state).catch(() => false);
}

/** All three Kubernetes servers present the API server's certificate. */
async function secureOk(
  state: State,
  ask: { port: number; path: string; headers?: Record<string, string> },
): Promise<boolean> {
  const certificate = certificateFile(state.dir);
  if (!existsSync(certificate)) return false;
  return await answersOk({
    url: `https://127.0.0.1:${ask.port}${ask.path}`,
    ca: readFileSync(certificate, 'utf8'),
    headers: ask.headers ?? {},
  });
}

/** Ours, not another one on the same port, and done with loading its append-only file. */
async function redisIsReady(component: Component): Promise<boolean> {
  const address = { host: '127.0.0.1', port: component.port };
  const pong = await askRedis(address, 'PING');
  if (component.container !== undefined || pong !== '+PONG') return pong === '+PONG';
  const info = await askRedis(address, 'INFO server');
  return info?.includes(`process_id:${component.pid}\r\n`) === true;
}
