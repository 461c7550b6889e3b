import { ensureArgoRollouts } from '../../../tools/cluster/src/build/build-argo-rollouts.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { send } from '../../../tools/cluster/src/servers/http.ts';
import { freePort } from '../../../tools/cluster/src/servers/ports.ts';
import { cleanUp } from '../cleanup.ts';
import { installCrdFile } from './crds.ts';
import type { Space } from '../kube.ts';
import { App } from '../processes.ts';
import { eventually } from '../wait.ts';

/** Runs the real controller for one namespace, with its own CRDs; it and they go when the file ends. */
export async function startArgoRollouts(cluster: Cluster, space: Space): Promise<void> {
  const { controller, crds } = await ensureArgoRollouts({ log: (line) => console.error(line) });
  for (const file of crds) await installCrdFile(cluster, space.client, file);
  const [metrics, healthz] = [await freePort(), await freePort()];
  const app = new App({
    name: 'rollouts-controller',
    command: controller,
    args: [
      `--kubeconfig=${cluster.kubeconfig}`,
      `--namespace=${space.name}`,
      '--namespaced',
      '--leader-elect=false',
      '--qps=1000',
      '--burst=1000',
      `--metricsPort=${metrics}`,
      `--healthzPort=${healthz}`,
    ],
    env: {},
  });
  cleanUp(() => app.discard());
  const isHealthy = async (): Promise<boolean> => {
    if (!app.isRunning) throw new Error(`the controller ended:\n${app.logs()}`);
    return (await send({ url: `http://127.0.0.1:${healthz}/healthz` })).status === 200;
  };
  await eventually(isHealthy, { what: 'the controller to be healthy', within: 60_000 });
}
