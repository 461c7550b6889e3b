import { expect, it } from 'vitest';
import { at, find, workload } from '../look.ts';
import { manifestsWith, type ChartValues } from '../render.ts';

/** Rules about namespaces of a component's ClusterRole. */
async function rendered(reloader: ChartValues) {
  const manifests = await manifestsWith({ reloader });
  const rulesOf = (component: string): unknown[] => {
    const rules = at(find(manifests, 'ClusterRole', `reroll-reroll-${component}`), 'rules') as unknown[];
    return rules.filter((rule) => at(rule, 'resources.0') === 'namespaces');
  };
  const args = at(workload(manifests, 'watcher').container, 'args') as string[];
  return { watcher: rulesOf('watcher'), worker: rulesOf('worker'), args };
}

const KUBE_SYSTEM = {
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: ['kube-system'],
  verbs: ['get'],
};
const ALL = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] };

it('namespaceSelector is handed on, and gives the watcher alone the right to watch namespaces', async () => {
  const { watcher, worker, args } = await rendered({ namespaceSelector: 'env=*,team=a' });
  expect(args).toContain('--namespace-selector=env=*,team=a');
  expect(watcher).toEqual([ALL, KUBE_SYSTEM]);
  expect(worker).toEqual([KUBE_SYSTEM]);
});

it('without it nobody has that right', async () => {
  const { watcher, args } = await rendered({});
  expect(args.join(' ')).not.toContain('--namespace-selector');
  expect(watcher).toEqual([KUBE_SYSTEM]);
});
