import { Module, type DynamicModule } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { observeRequests } from '@reroll/shared/platform/metrics/rest-client';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { createLifecycle } from '@reroll/shared/platform/process/shutdown';
import { VERSION } from '@reroll/shared/platform/process/version';
import { AdminService } from './admin.service.ts';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';

@Module({})
export class AdminModule {
  static of(options: AdminOptions): DynamicModule {
    const { logFormat, logLevel, kubeconfig, shutdownTimeout } = options;
    const log = createLogger({ format: logFormat, level: logLevel });
    const registry = createRegistry();
    const kube: KubeClient = new KubeClient({
      kubeconfig,
      userAgent: `reroll-admin/${VERSION}`,
      onRequest: observeRequests(registry, () => new URL(kube.server).host),
    });
    return {
      module: AdminModule,
      providers: [
        AdminService,
        { provide: OPTIONS, useValue: options },
        { provide: LOG, useValue: log },
        { provide: REGISTRY, useValue: registry },
        { provide: METRICS, useFactory: () => adminMetrics(registry) },
        { provide: LIFECYCLE, useFactory: () => createLifecycle({ log, timeout: shutdownTimeout }) },
        { provide: KUBE, useValue: kube },
      ],
    };
  }
}
