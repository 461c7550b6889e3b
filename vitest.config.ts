import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** One project a suite, so that each can be run alone: `npx vitest run --project core`. */
export default defineConfig({
  resolve: {
    alias: [
      // Specs run the sources of libs, so they need no build.
      {
        find: /^@reroll\/(core|kube|nest|redis|shared)\/(.+)$/,
        replacement: join(import.meta.dirname, 'libs/$1/src/$2.ts'),
      },
    ],
  },
  test: {
    passWithNoTests: false,
    projects: [
      // Much longer than any of them takes: a loaded machine fails no test.
      {
        extends: true,
        test: { name: 'core', include: ['libs/core/src/**/*.spec.ts'], testTimeout: 60_000, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'platform',
          include: ['libs/shared/src/**/*.spec.ts'],
          testTimeout: 60_000,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'adapters',
          // The simulated API server and Redis are compared with real ones.
          include: [
            'libs/{kube,nest,redis}/src/**/*.spec.ts',
            'tools/simulation/src/{api,redis}/**/*.spec.ts',
          ],
          globalSetup: ['e2e/support/bare-cluster.ts'],
          setupFiles: ['tools/test/servers.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          isolate: false,
        },
      },
      ...['watcher', 'worker', 'admin', 'standalone', 'reroll', 'cli', 'dashboard'].map((app) => ({
        extends: true as const,
        test: {
          name: app,
          include: [`apps/${app}/**/*.spec.ts`],
          setupFiles: ['tools/test/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          isolate: false,
        },
      })),
      {
        extends: true,
        test: {
          name: 'tools',
          include: ['tools/**/*.spec.ts'],
          exclude: ['tools/cluster/test/real-node.spec.ts', 'tools/simulation/src/{api,redis}/**'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          // They share what was rendered: no module may keep what belongs to one file.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.spec.ts'],
          exclude: ['e2e/{faults,hostile,install,oldest,soak}/**', 'e2e/deploy/image.spec.ts'],
          globalSetup: ['e2e/support/global-setup.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'image',
          // It mounts what it builds, which needs root.
          include: ['e2e/deploy/image.spec.ts'],
          globalSetup: ['e2e/support/global-setup.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'install',
          // They start real nodes, which needs root.
          include: ['e2e/install/**/*.spec.ts', 'tools/cluster/test/real-node.spec.ts'],
          globalSetup: ['e2e/install/support/global-setup.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
          fileParallelism: false,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'hostile',
          include: ['e2e/hostile/**/*.spec.ts'],
          globalSetup: ['e2e/support/bare-cluster.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['e2e/faults/**/*.spec.ts'],
          globalSetup: ['e2e/support/bare-cluster.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          isolate: false,
        },
      },
      {
        extends: true,
        // Builds an API server of another Kubernetes, for 8 minutes of CPU: `npm run oldest`, not a part of `npm test`.
        test: {
          name: 'oldest',
          include: ['e2e/oldest/**/*.spec.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          testTimeout: 180_000,
        },
      },
      {
        extends: true,
        // Half an hour: `npm run soak`, not a part of `npm test`.
        test: {
          name: 'soak',
          include: ['e2e/soak/**/*.spec.ts'],
          globalSetup: ['e2e/support/bare-cluster.ts'],
          setupFiles: ['e2e/support/test-hooks.ts'],
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
