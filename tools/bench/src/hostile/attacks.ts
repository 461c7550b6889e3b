import { CONFIG_MAPS, DEPLOYMENTS } from '../kinds.ts';
import type { Tenant } from './tenant.ts';

const AUTO = { 'reloader.stakater.com/auto': 'true' };
const NAMED = 'configmap.reloader.stakater.com/reload';
const MATCH = 'reloader.stakater.com/match';

/** What one tenant does to everybody else, within the rights of a namespace editor. */
export interface Attack {
  readonly name: string;
  /** Creates what it takes. Default: nothing. */
  readonly prepare?: (tenant: Tenant) => Promise<void>;
  /** Goes on until the signal fires. */
  readonly run: (tenant: Tenant, signal: AbortSignal) => Promise<void>;
}

/** Ways in which one tenant stopped or slowed the reloads of others before its costs had bounds. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'a list of 4,000 names on a workload that is written all the time',
    prepare: async (tenant) => {
      const names = Array.from({ length: 4_000 }, (_, index) => `name-${index}`);
      await tenant.createDeployment('list', { annotations: { [NAMED]: names.join(',') } });
    },
    run: (tenant, signal) => tenant.keepDoing(signal, (turn) => relabel(tenant, 'list', turn)),
  },
  {
    name: 'costly patterns on 3 workloads and 300 ConfigMaps whose annotations change',
    prepare: async (tenant) => {
      await tenant.each(300, (index) => tenant.createConfigMap(`source-${index}`));
      const pattern = '(?:[a-z0-9.-]*x?){200}y';
      await tenant.each(3, (index) =>
        tenant.createDeployment(`patterns-${index}`, { annotations: { [NAMED]: `${pattern},${pattern}z` } }),
      );
    },
    run: (tenant, signal) =>
      tenant.keepDoing(signal, (turn) =>
        tenant.patch(CONFIG_MAPS, `source-${turn % 300}`, {
          metadata: { annotations: { [MATCH]: turn % 2 === 0 ? 'true' : 'false' } },
        }),
      ),
  },
  {
    name: 'a ConfigMap that 1,000 workloads use, none of which asked for reloads, is written all the time',
    prepare: async (tenant) => {
      await tenant.createConfigMap('wide');
      await tenant.each(1_000, (index) => tenant.createDeployment(`user-${index}`, { configMaps: ['wide'] }));
    },
    run: (tenant, signal) => tenant.keepDoing(signal, () => tenant.change('wide')),
  },
  {
    name: 'a ConfigMap that nobody uses is written all the time',
    prepare: (tenant) => tenant.createConfigMap('hot'),
    run: (tenant, signal) => tenant.keepDoing(signal, () => tenant.change('hot')),
  },
  {
    name: 'a ConfigMap that 200 workloads are reloaded for is written all the time',
    prepare: async (tenant) => {
      await tenant.createConfigMap('hot');
      await tenant.each(200, (index) =>
        tenant.createDeployment(`user-${index}`, { annotations: AUTO, configMaps: ['hot'] }),
      );
    },
    run: (tenant, signal) => tenant.keepDoing(signal, () => tenant.change('hot')),
  },
  {
    name: '500 ConfigMaps with a workload each are written in turn',
    prepare: async (tenant) => {
      await tenant.each(500, async (index) => {
        await tenant.createConfigMap(`own-${index}`);
        await tenant.createDeployment(`own-${index}`, { annotations: AUTO, configMaps: [`own-${index}`] });
      });
    },
    run: (tenant, signal) => tenant.keepDoing(signal, (turn) => tenant.change(`own-${turn % 500}`)),
  },
  {
    name: 'workloads that ask for reloads are created all the time',
    prepare: (tenant) => tenant.createConfigMap('shared'),
    run: (tenant, signal) =>
      tenant.keepDoing(signal, (turn) =>
        tenant.createDeployment(`new-${turn}`, { annotations: AUTO, configMaps: ['shared'] }),
      ),
  },
  {
    name: 'the annotations of 200 workloads are changed all the time',
    prepare: async (tenant) => {
      await tenant.createConfigMap('shared');
      await tenant.each(200, (index) =>
        tenant.createDeployment(`annotated-${index}`, { annotations: AUTO, configMaps: ['shared'] }),
      );
    },
    run: (tenant, signal) =>
      tenant.keepDoing(signal, (turn) =>
        tenant.patch(DEPLOYMENTS, `annotated-${turn % 200}`, {
          metadata: { annotations: { [NAMED]: `name-${turn}` } },
        }),
      ),
  },
  {
    name: 'the status of 20 workloads is written all the time',
    prepare: async (tenant) => {
      await tenant.createConfigMap('shared');
      await tenant.each(20, (index) =>
        tenant.createDeployment(`rolling-${index}`, { annotations: AUTO, configMaps: ['shared'] }),
      );
    },
    run: (tenant, signal) =>
      tenant.keepDoing(signal, (turn) =>
        tenant.patchStatus(DEPLOYMENTS, `rolling-${turn % 20}`, {
          observedGeneration: turn % 2,
          replicas: 7,
          updatedReplicas: turn % 7,
        }),
      ),
  },
  {
    name: 'ConfigMaps are created and deleted all the time',
    run: (tenant, signal) =>
      tenant.keepDoing(signal, async (turn) => {
        await tenant.createConfigMap(`passing-${turn}`);
        await tenant.delete(CONFIG_MAPS, `passing-${turn}`);
      }),
  },
  {
    name: 'a workload names another ConfigMap with every write, as Kustomize makes them',
    prepare: (tenant) => tenant.createDeployment('generated', { annotations: AUTO, configMaps: ['none'] }),
    run: (tenant, signal) =>
      tenant.keepDoing(signal, async (turn) => {
        await tenant.createConfigMap(`generated-${turn}`);
        const envFrom = [{ configMapRef: { name: `generated-${turn}`, optional: true } }];
        const containers = [{ name: 'app', image: 'registry.k8s.io/pause:3.10', envFrom }];
        await tenant.patch(DEPLOYMENTS, 'generated', { spec: { template: { spec: { containers } } } });
      }),
  },
  {
    name: 'a workload whose annotations are nearly full of other data is changed all the time',
    prepare: async (tenant) => {
      await tenant.createConfigMap('hot');
      const annotations = { ...AUTO, 'example.com/notes': 'x'.repeat(261_000) };
      await tenant.createDeployment('full', { annotations, configMaps: ['hot'] });
    },
    run: (tenant, signal) => tenant.keepDoing(signal, () => tenant.change('hot')),
  },
];

/** A write that concerns no reloader. */
async function relabel(tenant: Tenant, name: string, turn: number): Promise<void> {
  await tenant.patch(DEPLOYMENTS, name, { metadata: { labels: { turn: String(turn) } } });
}
