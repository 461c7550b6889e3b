import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { collectionPath, objectPath } from '@reroll/kube/objects';
import { configMap } from '@reroll/kube/sources/config-map';
import { secret } from '@reroll/kube/sources/secret';
import { perform, type Act, type Performance } from './act.ts';
import { Observer } from './observer.ts';
import {
  CONFIG_MAP,
  NAMESPACE,
  SECRET,
  WORKLOADS,
  configMapManifest,
  resourceOf,
  reloadedBy,
  secretManifest,
  workloadManifest,
  type Kind,
} from './shop.ts';
import { milliseconds, showPerformance, showShop, type Play } from './show.ts';
import { LEASE_FLAGS, type Stage } from './stage.ts';
import type { Terminal } from './terminal.ts';

const PODS = WORKLOADS.reduce((sum, { pods }) => sum + pods, 0);
const BOTH: readonly Kind[] = ['ConfigMap', 'Secret'];
const ASKING = WORKLOADS.filter((workload) => reloadedBy(workload, BOTH).length > 0);
const NOT_ASKING = WORKLOADS.filter((workload) => !ASKING.includes(workload));

/** The whole play on a stage that is set. Rejects if it cannot go on; what was unexpected is in the result. */
export async function play(stage: Stage, terminal: Terminal): Promise<Play> {
  const leader = await stage.startReroll();
  terminal.step(`watcher-1, watcher-2, worker-1 and worker-2 are ready; ${leader} leads`);
  const observer = new Observer(stage.client);
  try {
    await observer.start();
    const scene = { stage, observer, terminal };
    const failures = await openShop(scene);
    const untouched = podsOf(observer);
    const performances = await allActs(scene);
    if (podsOf(observer) !== untouched) failures.push('a pod was replaced that nobody asked to replace');
    failures.push(...stage.ended.map((name) => `${name} ended by itself`));
    return { performances, failures: [...failures, ...performances.flatMap((each) => each.failures)] };
  } finally {
    await observer.stop();
  }
}

interface Scene {
  readonly stage: Stage;
  readonly observer: Observer;
  readonly terminal: Terminal;
}

async function openShop({ stage, observer, terminal }: Scene): Promise<string[]> {
  showShop(terminal);
  await stage.client.post(collectionPath(configMap, NAMESPACE), configMapManifest());
  await stage.client.post(collectionPath(secret, NAMESPACE), secretManifest());
  for (const workload of WORKLOADS) {
    await stage.client.post(collectionPath(resourceOf(workload), NAMESPACE), workloadManifest(workload));
  }
  await stage.wait(`${PODS} pods to be Ready`, () => observer.readyPods === PODS);
  observer.begin();
  await stage.wait('the workloads to be recorded', () => observer.recorded === ASKING.length);
  await stage.wait('the cluster to be quiet', () => observer.quietMs > 500);
  const restarted = WORKLOADS.filter((workload) => observer.rollout(workload).count > 0);
  terminal.step(`${PODS} pods are Ready`);
  terminal.step(
    `adopted: what ${ASKING.length} of the ${WORKLOADS.length} workloads run with is recorded on them (the others ask for no reload); restarted: ${restarted.length}`,
  );
  return restarted.map(({ name }) => `${name} was restarted when it was adopted`);
}

async function allActs(scene: Scene): Promise<Performance[]> {
  const { stage, terminal } = scene;
  const first = await act(scene, '1. The ConfigMap changes', {
    changed: ['ConfigMap'],
    change: () => write(stage, 'ConfigMap', 'Autumn sale'),
  });
  terminal.line();
  terminal.line('  Times are since the change. 100 ms of each are --debounce: what else changes meanwhile');
  terminal.line('  becomes part of the same rollout.');
  const second = await act(scene, '2. The Secret changes', {
    changed: ['Secret'],
    change: () => write(stage, 'Secret', 'demo-key-2'),
  });
  const third = await act(scene, '3. Both change at once', {
    changed: BOTH,
    change: async () => {
      await Promise.all([write(stage, 'ConfigMap', 'Winter sale'), write(stage, 'Secret', 'demo-key-3')]);
    },
  });
  return [first, second, third, await leaderlessAct(scene)];
}

/** The leader is killed, and what changes before there is another one must not be lost. */
async function leaderlessAct(scene: Scene): Promise<Performance> {
  const { stage, terminal } = scene;
  const dead = await stage.leader();
  const failures: string[] = [];
  let tookOverAt = 0;
  let next = '';
  const result = await act(
    scene,
    `4. ${dead}, which leads, is killed (SIGKILL); then the ConfigMap changes`,
    {
      changed: ['ConfigMap'],
      change: async () => {
        await stage.kill(dead);
        await write(stage, 'ConfigMap', 'Closing sale');
        if ((await stage.leader()) !== dead) failures.push('there was a leader again before the change');
      },
      afterChange: async () => {
        terminal.step(`nobody leads until the Lease runs out (${LEASE_FLAGS[0]} here; the default is 15s)`);
        next = await stage.leaderOtherThan(dead);
        tookOverAt = performance.now();
        terminal.step(`${next} leads`);
        terminal.line();
      },
    },
  );
  const waited = milliseconds(tookOverAt - result.changedAt);
  const found = milliseconds(result.firstPatchAt - tookOverAt);
  terminal.line();
  terminal.line(`  ${next} took over ${waited} after the change; the first patch came ${found} later.`);
  if (result.firstPatchAt < tookOverAt) failures.push('a workload was patched while there was no leader');
  return { ...result, failures: [...result.failures, ...failures] };
}

async function act({ stage, observer, terminal }: Scene, title: string, what: Act): Promise<Performance> {
  terminal.heading(title);
  const result = await perform(stage, observer, what);
  showPerformance(terminal, result);
  return result;
}

/** The pods of the workloads that are never to be reloaded. */
function podsOf(observer: Observer): string {
  return NOT_ASKING.flatMap(({ name }) => [...observer.podsOf(name)])
    .sort()
    .join();
}

const PATCHES = {
  ConfigMap: (value: string) => ({
    path: objectPath(configMap, { namespace: NAMESPACE, name: CONFIG_MAP }),
    body: { data: { banner: value } },
  }),
  Secret: (value: string) => ({
    path: objectPath(secret, { namespace: NAMESPACE, name: SECRET }),
    body: { stringData: { 'api-key': value } },
  }),
};

async function write(stage: Stage, kind: Kind, value: string): Promise<void> {
  const { path, body } = PATCHES[kind](value);
  await stage.client.patch(path, body, { contentType: MERGE_PATCH });
}
