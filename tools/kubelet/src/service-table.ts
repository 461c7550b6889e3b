import type { EndpointSlice, Service } from './types.ts';

/** What listens on one port of one Service's address; a target is `address:port` or `unix:PATH`. */
export interface ProxyRow {
  readonly ip: string;
  readonly port: number;
  readonly targets: readonly string[];
}

/** One line of a hosts file. */
export interface HostRow {
  readonly ip: string;
  readonly name: string;
  readonly namespace: string;
  /** Of one pod of a headless Service; undefined: of the Service. */
  readonly hostname?: string;
}

const SERVICE_OF_SLICE = 'kubernetes.io/service-name';
const DOMAIN = 'cluster.local';

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];

/** What kube-proxy would make of these Services: those with an address of their own, by their ready endpoints. */
export function proxyRows(services: readonly Service[], slices: readonly EndpointSlice[]): ProxyRow[] {
  return services.filter(hasAddress).flatMap((service) => {
    const { clusterIP = '', ports = [] } = service.spec;
    const own = slicesOf(service, slices);
    return ports.map(({ name, port }) => ({ ip: clusterIP, port, targets: targetsOf(own, name) }));
  });
}

/** What the cluster's DNS would tell. A headless Service without ready endpoints has no name. */
export function hostRows(services: readonly Service[], slices: readonly EndpointSlice[]): HostRow[] {
  return services.flatMap((service) => {
    const { name, namespace } = service.metadata;
    if (hasAddress(service)) return [{ ip: service.spec.clusterIP ?? '', name, namespace }];
    const ready = slicesOf(service, slices).flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady));
    return ready.flatMap((endpoint) => headlessRows(endpoint, { name, namespace }));
  });
}

/** The hosts file of a pod: names are short within its own namespace. */
export function hostsFile(
  rows: readonly HostRow[],
  pod: { ip: string; namespace: string; hostname: string },
): string {
  const lines = rows.map((row) => `${row.ip}\t${namesOf(row, pod.namespace).join(' ')}`);
  const head = ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost', `${pod.ip}\t${pod.hostname}`];
  return [...head, ...lines, ''].join('\n');
}

function namesOf({ name, namespace, hostname }: HostRow, from: string): string[] {
  const service = hostname === undefined ? name : `${hostname}.${name}`;
  const names = ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.${DOMAIN}`].map(
    (suffix) => service + suffix,
  );
  return namespace === from ? names : names.slice(1);
}

function headlessRows(endpoint: Endpoint, service: { name: string; namespace: string }): HostRow[] {
  const { hostname, addresses } = endpoint;
  return addresses.flatMap((ip) => {
    const row = { ip, ...service };
    return hostname === undefined || hostname === '' ? [row] : [row, { ...row, hostname }];
  });
}

function targetsOf(slices: readonly EndpointSlice[], portName = ''): string[] {
  return slices.flatMap(({ endpoints, ports }) => {
    const port = ports?.find((each) => (each.name ?? '') === portName)?.port;
    if (port === undefined) return [];
    return (endpoints ?? [])
      .filter(isReady)
      .flatMap(({ addresses }) => addresses.map((ip) => `${ip}:${port}`));
  });
}

function hasAddress({ spec }: Service): boolean {
  return spec.clusterIP !== undefined && !['', 'None'].includes(spec.clusterIP);
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false;
}

function slicesOf({ metadata }: Service, slices: readonly EndpointSlice[]): EndpointSlice[] {
  return slices.filter(
    (slice) =>
      slice.metadata.namespace === metadata.namespace &&
      slice.metadata.labels?.[SERVICE_OF_SLICE] === metadata.name,
  );
}
