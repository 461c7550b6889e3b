import { describe, expect, it } from 'vitest';
import { hostRows, hostsFile, proxyRows } from '../src/service-table.ts';
import type { EndpointSlice, Service } from '../src/types.ts';

function service(name: string, clusterIP: string): Service {
  return {
    metadata: { name, namespace: 'shop', uid: name },
    spec: { clusterIP, ports: [{ name: 'http', port: 80 }] },
  };
}

function slice(name: string, endpoints: EndpointSlice['endpoints'] = null): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': name };
  return {
    metadata: { name: `${name}-x`, namespace: 'shop', uid: `${name}-x`, labels },
    endpoints,
    ports: endpoints === null ? null : [{ name: 'http', port: 8080 }],
  };
}

const READY = { addresses: ['10.0.0.1'], hostname: 'web-0', conditions: { ready: true } };
const UNREADY = { addresses: ['10.0.0.2'], hostname: 'web-1', conditions: { ready: false } };

describe('what Services lead to', () => {
  it('a Service with an address leads to the target ports of the endpoints that are ready', () => {
    expect(proxyRows([service('web', '10.96.0.9')], [slice('web', [READY, UNREADY])])).toEqual([
      { ip: '10.96.0.9', port: 80, targets: ['10.0.0.1:8080'] },
    ]);
  });

  it('a Service without endpoints leads nowhere, also while its slice has null for them', () => {
    expect(proxyRows([service('web', '10.96.0.9')], [slice('web')])).toEqual([
      { ip: '10.96.0.9', port: 80, targets: [] },
    ]);
  });

  it('the slices of a Service of the same name in another namespace are not its own', () => {
    const other = { ...slice('web', [READY]), metadata: { ...slice('web').metadata, namespace: 'other' } };
    expect(proxyRows([service('web', '10.96.0.9')], [other])[0]?.targets).toEqual([]);
  });
});

describe('names of Services in hosts files', () => {
  const pod = { ip: '10.0.0.7', namespace: 'shop', hostname: 'me' };
  const names = (services: Service[], slices: EndpointSlice[], namespace = 'shop'): string[] =>
    hostsFile(hostRows(services, slices), { ...pod, namespace })
      .split('\n')
      .slice(3)
      .filter(Boolean);

  it('a Service with an address has four names in its namespace, and its short one only there', () => {
    const services = [service('web', '10.96.0.9')];
    expect(names(services, [])).toEqual(['10.96.0.9\tweb web.shop web.shop.svc web.shop.svc.cluster.local']);
    expect(names(services, [], 'other')).toEqual([
      '10.96.0.9\tweb.shop web.shop.svc web.shop.svc.cluster.local',
    ]);
  });

  it('a headless Service has the addresses of its ready pods, and each of those a name of its own', () => {
    expect(names([service('web', 'None')], [slice('web', [READY, UNREADY])])).toEqual([
      '10.0.0.1\tweb web.shop web.shop.svc web.shop.svc.cluster.local',
      '10.0.0.1\tweb-0.web web-0.web.shop web-0.web.shop.svc web-0.web.shop.svc.cluster.local',
    ]);
  });

  it('a headless Service without ready pods has no name', () => {
    expect(names([service('web', 'None')], [slice('web', [UNREADY])])).toEqual([]);
  });
});
