import { readFileSync } from 'node:fs';
import type { KubeClient } from '@reroll/kube/client/connection';
import { forwardPort } from '@reroll/kube/client/port-forward';
import type { RequestHeaders } from '@reroll/kube/client/kubeconfig-files';
import { openPool, type Endpoint } from '@reroll/kube/client/transport';
import { z } from 'zod';
import { CliError, usageError } from '../errors.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { AdminService } from './find-admin.ts';
import { HttpRoute } from './http-route.ts';

/** Returns the token for the admin; undefined for none. */
export type Bearer = () => Promise<string | undefined>;

async function headerOf(name: string, bearer: Bearer): Promise<Readonly<Record<string, string>>> {
  const token = await bearer();
  return token === undefined ? {} : { [name]: `Bearer ${token}` };
}

/** A direct route to a URL: `--server`. */
export function serverRoute(server: string, bearer: Bearer, authority: string | undefined): HttpRoute {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageError(`expected --server to be an http or https URL, given ${JSON.stringify(server)}`);
  }
  return new HttpRoute({
    name: url.origin,
    endpoint: { origin: url.origin, tls: authority === undefined ? {} : { ca: fileText(authority) } },
    basePath: url.pathname.replace(/\/$/, ''),
    headers: () => headerOf('authorization', bearer),
  });
}

/** Whether requests can be read in transit: plain HTTP to another machine. */
export function isReadableOnTheWay(server: string): boolean {
  if (!URL.canParse(server)) return false;
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** A route through the API server, which uses and strips `Authorization`: the admin has a header of its own. */
export async function proxyRoute(
  cluster: ClusterAccess,
  { namespace, name }: AdminService,
  bearer: Bearer,
): Promise<HttpRoute> {
  const service = encodeURIComponent(`http:${name}:api`);
  return new HttpRoute({
    name: `the API server's proxy to the Service ${namespace}/${name}`,
    endpoint: await endpointOf(cluster),
    basePath: `${cluster.basePath}/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${service}/proxy`,
    headers: async () => ({
      ...(await cluster.credentials()).headers,
      ...(await headerOf('reroll-authorization', bearer)),
    }),
  });
}

/** A route through a port-forward to a ready pod of the Service. */
export async function forwardRoute(
  cluster: ClusterAccess,
  service: AdminService,
  bearer: Bearer,
): Promise<HttpRoute> {
  requireSingleValues((await cluster.credentials()).headers);
  const { pod, port } = await readyPod(cluster.client, service);
  const dispatcher = openPool(await endpointOf(cluster), 0);
  const forward = await forwardPort({
    dispatcher,
    server: cluster.origin + cluster.basePath,
    headers: async () => (await cluster.credentials()).headers,
    namespace: service.namespace,
    pod,
    port,
  });
  return new HttpRoute({
    name: `a port-forward to the Pod ${service.namespace}/${pod}`,
    endpoint: { origin: `http://127.0.0.1:${forward.localPort}`, tls: {} },
    basePath: '',
    headers: () => headerOf('authorization', bearer),
    onClose: async () => {
      await forward.close();
      await dispatcher.destroy();
    },
  });
}

/** A WebSocket sends several values of a header as one, which would be a group that nobody is in. */
function requireSingleValues(headers: RequestHeaders): void {
  const several = Object.entries(headers).find(([, value]) => Array.isArray(value) && value.length > 1);
  if (several === undefined) return;
  throw new CliError(
    `a port-forward cannot impersonate with several values of ${several[0]}, as the user of the kubeconfig does`,
  );
}

async function endpointOf(cluster: ClusterAccess): Promise<Endpoint> {
  const { tls } = await cluster.credentials();
  return { origin: cluster.origin, proxyUrl: cluster.proxyUrl, tls };
}

const PODS = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        containers: z.array(
          z.object({
            ports: z.array(z.object({ name: z.string().optional(), containerPort: z.number() })).optional(),
          }),
        ),
      }),
      status: z
        .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() })
        .optional(),
    }),
  ),
});
type Pod = z.infer<typeof PODS>['items'][number];

async function readyPod(
  client: KubeClient,
  { namespace, name, selector, targetPort }: AdminService,
): Promise<{ readonly pod: string; readonly port: number }> {
  const labelSelector = Object.entries(selector)
    .map((pair) => pair.join('='))
    .join(',');
  if (labelSelector === '') throw new CliError(`the Service ${namespace}/${name} selects no pods`);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const { items } = PODS.parse((await client.get(path, { query: { labelSelector } })).body);
  for (const pod of items.filter(isReady)) {
    const port = typeof targetPort === 'number' ? targetPort : portOf(pod, targetPort);
    if (port !== undefined) return { pod: pod.metadata.name, port };
  }
  throw new CliError(`no pod of the Service ${namespace}/${name} is ready`);
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

function portOf({ spec }: Pod, name: string): number | undefined {
  return spec.containers.flatMap(({ ports }) => ports ?? []).find((port) => port.name === name)
    ?.containerPort;
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usageError(`expected --certificate-authority to name a file, given ${JSON.stringify(file)}`);
  }
}
