import { Module, type DynamicModule } from '@nestjs/common';
import { REASONS } from '@reroll/core/reasons';
import { KubeClient } from '@reroll/kube/client/connection';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { observeRequests } from '@reroll/shared/platform/metrics/rest-client';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { VERSION } from '@reroll/shared/platform/process/version';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';
import { WorkerService } from './worker.service.ts';

@Module({})
export class WorkerModule {
  static of(options: WorkerOptions): DynamicModule {
    const { logFormat, logLevel, kubeconfig, shutdownTimeout } = options;
    const log = createLogger({ format: logFormat, level: logLevel });
    const registry = createRegistry();
    const userAgent = `reroll-worker/${VERSION}`;
    const kube: KubeClient = new KubeClient({
      kubeconfig,
      userAgent,
      onRequest: observeRequests(registry, () => new URL(kube.server).host),
    });
    return {
      module: WorkerModule,
      providers: [
        WorkerService,
        { provide: OPTIONS, useValue: options },
        { provide: LOG, useValue: log },
        { provide: REGISTRY, useValue: registry },
        {
          provide: METRICS,
          useFactory: () => workerMetrics(registry, Object.keys(REASONS), options.metricsCountByNamespace),
        },
        { provide: LIFECYCLE, useFactory: () => new Lifecycle({ log, timeout: shutdownTimeout }) },
        { provide: KUBE, useValue: kube },
      ],
    };
  }
}
