import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { at, installed, titleOf, workload } from './look.ts';
import { manifestsWith, type Manifest } from './render.ts';

let manifests: readonly Manifest[];
beforeAll(async () => {
  manifests = await manifestsWith();
});

it('installs these objects and no others', () => {
  const names = installed(manifests).map(({ kind, metadata }) => titleOf(kind, metadata.name));
  expect(names.sort()).toEqual([
    'ClusterRole reroll-operator',
    'ClusterRole reroll-reroll-admin',
    'ClusterRole reroll-reroll-watcher',
    'ClusterRole reroll-reroll-worker',
    'ClusterRole reroll-viewer',
    'ClusterRoleBinding reroll-reroll-admin',
    'ClusterRoleBinding reroll-reroll-watcher',
    'ClusterRoleBinding reroll-reroll-worker',
    'ConfigMap reloader-meta-info',
    'ConfigMap reroll-redis',
    'Deployment reroll-admin',
    'Deployment reroll-watcher',
    'Deployment reroll-worker',
    'Job reroll-make-secrets',
    'Lease reroll-watcher',
    'NetworkPolicy reroll-redis',
    'PodDisruptionBudget reroll-admin',
    'PodDisruptionBudget reroll-watcher',
    'PodDisruptionBudget reroll-worker',
    'Role reroll-make-secrets',
    'Role reroll-watcher-lease',
    'Role reroll-watcher-metadata',
    'RoleBinding reroll-make-secrets',
    'RoleBinding reroll-watcher-lease',
    'RoleBinding reroll-watcher-metadata',
    'Service reroll-admin',
    'Service reroll-redis',
    'ServiceAccount reroll-admin',
    'ServiceAccount reroll-make-secrets',
    'ServiceAccount reroll-redis',
    'ServiceAccount reroll-watcher',
    'ServiceAccount reroll-worker',
    'StatefulSet reroll-redis',
  ]);
});

it('in one process, it installs these objects and no others', async () => {
  const names = installed(await manifestsWith({ mode: 'standalone' })).map(({ kind, metadata }) =>
    titleOf(kind, metadata.name),
  );
  expect(names.sort()).toEqual([
    'ClusterRole reroll-operator',
    'ClusterRole reroll-reroll-admin',
    'ClusterRole reroll-reroll-watcher',
    'ClusterRole reroll-reroll-worker',
    'ClusterRole reroll-viewer',
    'ClusterRoleBinding reroll-reroll-admin',
    'ClusterRoleBinding reroll-reroll-watcher',
    'ClusterRoleBinding reroll-reroll-worker',
    'ConfigMap reloader-meta-info',
    'Deployment reroll-standalone',
    'Job reroll-make-secrets',
    'Lease reroll-watcher',
    'PodDisruptionBudget reroll-standalone',
    'Role reroll-make-secrets',
    'Role reroll-watcher-lease',
    'Role reroll-watcher-metadata',
    'RoleBinding reroll-make-secrets',
    'RoleBinding reroll-watcher-lease',
    'RoleBinding reroll-watcher-metadata',
    'Service reroll-admin',
    'ServiceAccount reroll-make-secrets',
    'ServiceAccount reroll-watcher',
  ]);
});

it('a release of the longest name that Helm takes has names that Kubernetes takes', async () => {
  const long = await manifestsWith({}, { release: 'r'.repeat(53) });
  const set = long.find(({ kind }) => kind === 'StatefulSet');
  expect(set?.metadata.name).toHaveLength(46);
  for (const { metadata } of long) {
    expect(metadata.name.length).toBeLessThanOrEqual(63);
    for (const value of Object.values(metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
  }
});

describe.each(['watcher', 'worker', 'admin'])('the %s', (component) => {
  it('has a startup, a liveness and a readiness probe on the port that is named http', () => {
    const { container } = workload(manifests, component);
    const api = component === 'admin' ? [{ name: 'api', containerPort: 8080 }] : [];
    expect(at(container, 'ports')).toEqual([{ name: 'http', containerPort: 9090 }, ...api]);
    expect(at(container, 'startupProbe.httpGet')).toEqual({ path: '/live', port: 'http' });
    expect(at(container, 'livenessProbe.httpGet')).toEqual({ path: '/live', port: 'http' });
    expect(at(container, 'readinessProbe.httpGet')).toEqual({ path: '/ready', port: 'http' });
  });

  it('runs the program of the image in its role', () => {
    const { container, args } = workload(manifests, component);
    expect(at(container, 'image')).toBe(`ghcr.io/reroll/reroll:${VERSION}`);
    expect(args[0]).toBe(component);
    expect(at(container, 'command')).toBeUndefined();
  });
});
