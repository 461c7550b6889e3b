import { Module, type DynamicModule } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { observeRequests } from '@reroll/shared/platform/metrics/rest-client';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { VERSION } from '@reroll/shared/platform/process/version';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';
import { WatcherService } from './watcher.service.ts';

@Module({})
export class WatcherModule {
  static of(options: WatcherOptions): DynamicModule {
    const { logFormat, logLevel, kubeconfig, shutdownTimeout } = options;
    const log = createLogger({ format: logFormat, level: logLevel });
    const registry = createRegistry();
    const userAgent = `reroll-watcher/${VERSION}`;
    const kube: KubeClient = new KubeClient({
      kubeconfig,
      userAgent,
      onRequest: observeRequests(registry, () => new URL(kube.server).host),
    });
    return {
      module: WatcherModule,
      providers: [
        WatcherService,
        { provide: OPTIONS, useValue: options },
        { provide: LOG, useValue: log },
        { provide: REGISTRY, useValue: registry },
        { provide: METRICS, useFactory: () => watcherMetrics(registry) },
        { provide: LIFECYCLE, useFactory: () => new Lifecycle({ log, timeout: shutdownTimeout }) },
        { provide: KUBE, useValue: kube },
      ],
    };
  }
}
