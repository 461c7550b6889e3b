import { defineConfig } from 'vitest/config';

/** One project a suite, so that each can be run alone: `npx vitest run --project core`. */
export default defineConfig({
  test: {
    passWithNoTests: false,
    projects: [
      // Much longer than any of them takes: a loaded machine fails no test.
      { test: { name: 'core', include: ['libs/shared/src/core/**/*.spec.ts'], testTimeout: 60_000 } },
      {
        test: { name: 'platform', include: ['libs/shared/src/platform/**/*.spec.ts'], testTimeout: 60_000 },
      },
      {
        test: {
          name: 'adapters',
          include: ['libs/shared/src/{kube,queue,catalog}/**/*.spec.ts'],
          setupFiles: ['tools/test/servers.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
      ...['watcher', 'worker', 'admin', 'cli', 'dashboard'].map((app) => ({
        test: {
          name: app,
          include: [`apps/${app}/**/*.spec.ts`],
          setupFiles: ['tools/test/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      })),
      {
        test: {
          name: 'tools',
          include: ['tools/**/*.spec.ts'],
          exclude: ['tools/kubelet/**/kubelet.spec.ts'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.spec.ts'],
          exclude: ['e2e/faults/**', 'e2e/hostile/**', 'e2e/install/**'],
          globalSetup: ['e2e/support/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'install',
          // Both need root, or tools/kubelet/rootless.sh.
          include: ['e2e/install/**/*.spec.ts', 'tools/kubelet/**/kubelet.spec.ts'],
          globalSetup: ['e2e/install/support/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'hostile',
          include: ['e2e/hostile/**/*.spec.ts'],
          globalSetup: ['e2e/hostile/support/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['e2e/faults/**/*.spec.ts'],
          globalSetup: ['e2e/faults/support/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
