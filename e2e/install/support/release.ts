import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { attachCluster, type Cluster } from '../../../tools/cluster/src/cluster.ts';
import { NAMESPACE_ANNOTATIONS } from '../../../tools/cluster/src/node/place.ts';
import { CHART } from '../../../tools/deploy/values/values-comments.ts';
import { KubeError } from '@reroll/kube/client/errors';
import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUp } from '../../support/cleanup.ts';
import { type KubeObject, Space, connect } from '../../support/kube.ts';
import { lastLines, logsOfFailures } from '../../support/processes.ts';
import { eventually } from '../../support/wait.ts';
import { Helm } from './helm.ts';
import { podLogs } from './pod-logs.ts';

/** Values of the chart, nested as in values.yaml. */
export type Values = Readonly<Record<string, unknown>>;

/** Fewer processes and quicker probes than by default, for what does not depend on them. */
export const SMALL: Values = {
  watcher: { replicas: 1 },
  worker: { replicas: 1 },
  reloader: { debounce: '0s', deployment: { readinessProbe: { periodSeconds: 1 } } },
};

const TIMEOUT = '150s';

export type Component = 'watcher' | 'worker' | 'admin' | 'standalone' | 'redis';

/** What these specs read of one. */
export interface Pod {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly { readonly image: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly state: { readonly waiting?: { readonly reason: string } };
      readonly lastState: { readonly terminated?: { readonly reason: string } };
    }[];
  };
}

/** The cluster that `global-setup.ts` started. */
export function installCluster(): Cluster {
  return attachCluster(inject('installCluster'));
}

/** A release `reroll` of the chart, in a namespace whose pods the real node runs. */
export class Release {
  readonly name = 'reroll';
  readonly client: KubeClient;
  /** The namespace of the release. */
  readonly space: Space;
  readonly #helm: Helm;

  private constructor(client: KubeClient, space: Space, helm: Helm) {
    this.client = client;
    this.space = space;
    this.#helm = helm;
  }

  /** A namespace without a release yet; whatever is in it goes when the test or file ends. */
  static async prepare(prefix: string): Promise<Release> {
    const cluster = installCluster();
    const [client, helm] = [connect(cluster), await Helm.of(cluster)];
    const space = new Space(client, `${prefix}-${randomBytes(2).toString('hex')}`);
    const metadata = { name: space.name, annotations: NAMESPACE_ANNOTATIONS };
    await client.post('/api/v1/namespaces', { metadata });
    const release = new Release(client, space, helm);
    // What is outside of the namespace has to go before the next release; the rest goes with the namespace.
    cleanUp(async () => {
      await release.helm('uninstall', release.name, '--ignore-not-found');
      await space.end();
      logsOfFailures.delete(release);
    });
    logsOfFailures.set(release, () => release.#lastLines());
    return release;
  }

  /** Resolves when everything is ready. */
  static async install(prefix: string, ...values: readonly Values[]): Promise<Release> {
    const release = await Release.prepare(prefix);
    await release.install(...values);
    return release;
  }

  async install(...values: readonly Values[]): Promise<string> {
    return await this.#apply(['install', this.name, CHART], values);
  }

  /** The values given take the place of those before. */
  async upgrade(...values: readonly Values[]): Promise<string> {
    return await this.#apply(['upgrade', this.name, CHART], values);
  }

  /** To another chart than ours, with the values as they are. */
  async upgradeTo(chart: string): Promise<string> {
    return await this.#apply(['upgrade', this.name, chart, '--reuse-values'], []);
  }

  async rollback(revision: number): Promise<void> {
    await this.#apply(['rollback', this.name, String(revision)], []);
  }

  async test(): Promise<string> {
    return await this.helm('test', this.name, '--timeout', TIMEOUT);
  }

  /** Resolves when the API server has forgotten every object of the release and its pods. */
  async uninstall(): Promise<void> {
    await this.helm('uninstall', this.name, '--wait', '--timeout', TIMEOUT);
    await eventually(async () => (await this.pods()).length === 0, { what: 'no pods', within: 90_000 });
  }

  async helm(...args: readonly string[]): Promise<string> {
    return await this.#helm.run([...args, '--namespace', this.space.name]);
  }

  /** Its own, not those of workloads that specs have put beside it. */
  async pods(component?: Component): Promise<Pod[]> {
    const pods = (await this.space.list('Pod')) as unknown as Pod[];
    const label = (pod: Pod, name: string): string | undefined =>
      pod.metadata.labels?.[`app.kubernetes.io/${name}`];
    return pods
      .filter((pod) => label(pod, 'instance') === this.name)
      .filter((pod) => component === undefined || label(pod, 'component') === component);
  }

  /** Pods that are ready and not about to end. */
  async readyPods(component: Component): Promise<Pod[]> {
    const pods = await this.pods(component);
    return pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
  }

  async ready(component: Component, count: number): Promise<Pod[]> {
    return await eventually(
      async () => {
        const [all, ready] = [await this.pods(component), await this.readyPods(component)];
        return ready.length === count && all.length === count ? ready : undefined;
      },
      { what: `${count} pods of ${component} to be ready`, within: 120_000 },
    );
  }

  /** What the containers have written, those of pods that are gone too, or those of one pod. */
  logs(pod?: string): string {
    const logs = [...podLogs(installCluster(), this.space.name)];
    return logs
      .filter(([name]) => pod === undefined || name.startsWith(`${pod}/`))
      .map(([name, text]) => `--- ${name}\n${text}`)
      .join('\n');
  }

  /** Whether there is none at this path any more. */
  async isGone(path: string): Promise<boolean> {
    try {
      await this.client.get(path);
      return false;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return true;
      throw error;
    }
  }

  async #apply(command: readonly string[], values: readonly Values[]): Promise<string> {
    const given = values.flatMap((each) => this.#helm.values(each));
    try {
      return await this.helm(...command, '--wait', '--timeout', TIMEOUT, ...given);
    } catch (error) {
      // In `beforeAll` nobody else shows them.
      console.error(this.#lastLines());
      throw error;
    }
  }

  /** Of each container. */
  #lastLines(): string {
    const containers = this.logs().split(/^(?=--- )/m);
    return [`=== ${this.space.name}`, ...containers.map(lastLines)].join('\n');
  }
}
