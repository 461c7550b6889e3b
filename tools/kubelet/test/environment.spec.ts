import { describe, expect, it } from 'vitest';
import { environment, expand, type ReadData } from '../src/pods/environment.ts';
import { divided } from '../src/pods/quantity.ts';
import type { Container, Pod, Service } from '../src/types.ts';

const metadata = { name: 'pod-1', namespace: 'shop', uid: 'u1' };
const POD: Pod = {
  metadata: { ...metadata, labels: { app: 'web' }, annotations: { 'a.b/c': 'd' } },
  spec: { nodeName: 'node', serviceAccountName: 'robot', containers: [] },
};
const data = (values: Record<string, string>): ReadonlyMap<string, Buffer> =>
  new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)]));
const OBJECTS: Readonly<Record<string, ReadonlyMap<string, Buffer>>> = {
  'Secret/s': data({ key: 'secret' }),
  'ConfigMap/c': data({ A: '1', B: '2' }),
};
const read: ReadData = (kind, name) => Promise.resolve(OBJECTS[`${kind}/${name}`]);

async function variables(
  given: Partial<Container>,
  more: { pod?: Pod; services?: Service[] } = {},
): Promise<Record<string, string>> {
  const container: Container = { name: 'app', image: 'i', ...given };
  const pod = more.pod ?? { ...POD, spec: { ...POD.spec, containers: [container] } };
  return await environment(container, { pod, ip: '10.0.0.1', read, services: more.services ?? [] });
}

const service = (name: string, namespace: string): Service => ({
  metadata: { name, namespace, uid: name },
  spec: { clusterIP: '10.96.0.7', ports: [{ name: 'redis', port: 6379, protocol: 'TCP' }] },
});

describe('variables of a container', () => {
  it('come from values, keys of Secrets and ConfigMaps, fields and resources', async () => {
    const env = [
      { name: 'PLAIN', value: 'x' },
      { name: 'TWICE', value: '$(PLAIN)$(PLAIN) $(NONE) $$(PLAIN)' },
      { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'key' } } },
      { name: 'MAP', valueFrom: { configMapKeyRef: { name: 'c', key: 'A' } } },
      { name: 'ABSENT', valueFrom: { configMapKeyRef: { name: 'c', key: 'Z', optional: true } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'NOTE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a.b/c']" } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'MIB', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ];
    const resources = { limits: { cpu: '1500m', memory: '256Mi' } };
    expect(await variables({ env, resources })).toEqual({
      PLAIN: 'x',
      TWICE: 'xx $(NONE) $(PLAIN)',
      SECRET: 'secret',
      MAP: '1',
      IP: '10.0.0.1',
      LABEL: 'web',
      NOTE: 'd',
      CPU: '2',
      MIB: '256',
    });
  });

  it('of envFrom carry the prefix, and those of env win', async () => {
    const envFrom = [
      { prefix: 'P_', configMapRef: { name: 'c' } },
      { secretRef: { name: 'none', optional: true } },
    ];
    const env = [{ name: 'P_A', value: 'own' }];
    expect(await variables({ envFrom, env })).toEqual({ P_A: 'own', P_B: '2' });
  });

  it.each([
    [
      { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 's', key: 'no' } } }] },
      'key no of Secret s not found',
    ],
    [{ envFrom: [{ configMapRef: { name: 'no' } }] }, 'ConfigMap no not found'],
  ])('wait for what is missing: %j', async (container, message) => {
    await expect(variables(container)).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message,
    });
  });

  it('tell the Services of the namespace, and kubernetes', async () => {
    const services = [
      service('my-redis', 'shop'),
      service('other', 'elsewhere'),
      service('kubernetes', 'default'),
    ];
    const found = await variables({}, { services });
    expect(found).toMatchObject({
      MY_REDIS_SERVICE_HOST: '10.96.0.7',
      MY_REDIS_SERVICE_PORT: '6379',
      MY_REDIS_SERVICE_PORT_REDIS: '6379',
      MY_REDIS_PORT: 'tcp://10.96.0.7:6379',
      MY_REDIS_PORT_6379_TCP_ADDR: '10.96.0.7',
      KUBERNETES_SERVICE_HOST: '10.96.0.7',
    });
    expect(Object.keys(found).filter((name) => name.startsWith('OTHER'))).toEqual([]);
  });

  it('tell only kubernetes to a pod that wants no links to Services', async () => {
    const services = [service('redis', 'shop'), service('kubernetes', 'default')];
    const pod = { ...POD, spec: { ...POD.spec, enableServiceLinks: false } };
    const found = await variables({}, { pod, services });
    expect(Object.keys(found).filter((name) => !name.startsWith('KUBERNETES_'))).toEqual([]);
    expect(found).toMatchObject({ KUBERNETES_SERVICE_PORT: '6379' });
  });

  it('are put into words like $(NAME), and $$ is one $', () => {
    expect(expand('a$(B)c $(D) $$(B) $$', { B: '1' })).toBe('a1c $(D) $(B) $');
  });
});

describe('resources', () => {
  it.each([
    ['2', '1', '2'],
    ['300m', '1', '1'],
    ['300m', '100m', '3'],
    ['1Gi', '1Mi', '1024'],
    ['128Mi', '0', '134217728'],
  ])('%s by %s is %s', (value, divisor, expected) => {
    expect(divided(value, divisor)).toBe(expected);
  });

  it('what is no quantity is refused with the text given', () => {
    expect(() => divided('much')).toThrow('expected a quantity like 500m, given much');
  });
});
