import { Module } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { installIdentity, type InstallIdentity } from '@reroll/kube/install-identity';
import { observeRequests } from '@reroll/shared/platform/metrics/rest-client';
import { repeatedFailure } from '@reroll/shared/platform/logging/repeated-failure';
import { VERSION } from '@reroll/shared/platform/process/version';
import { HealthModule, Listening } from './health.module.ts';
import { Process } from './process.ts';
import { provided } from './provided.ts';
import { IDENTITY } from './tokens.ts';

/**
 * Provides the client of the API server and the install's identity. What needs the identity waits until the API server
 * can be reached.
 */
@Module({
  imports: [HealthModule],
  providers: [
    provided(KubeClient, [Process], openClient),
    provided(IDENTITY, [KubeClient, Process, Listening], identityOf),
  ],
  exports: [KubeClient, IDENTITY],
})
export class KubeModule {}

function openClient({ name, options, registry, lifecycle, outside }: Process): KubeClient {
  const client: KubeClient = new KubeClient({
    kubeconfig: options.kubeconfig,
    userAgent: `reroll-${name}/${VERSION}`,
    openPool: outside.openPool,
    onRequest: observeRequests(registry, () => new URL(client.server).host),
  });
  lifecycle.onStop('kubernetes client', 2_000, () => client.close());
  return client;
}

function identityOf(client: KubeClient, { options, log, lifecycle }: Process): Promise<InstallIdentity> {
  return installIdentity({
    client,
    clusterName: options.clusterName,
    namespace: options.podNamespace,
    signal: lifecycle.signal,
    onRetry: repeatedFailure(log, 'cannot read the identity of the cluster, retrying'),
  });
}
