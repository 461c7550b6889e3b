import { expect, it } from 'vitest';
import { metaInfo } from './meta-info.ts';
import { parseOptions } from '../options/parsing/parse.ts';
import { VERSION } from './version.ts';

/** The keys of stakater/Reloader, chart 2.2.16, in its order. */
const KEYS = `autoReloadAll configmapUpdateOnChangeAnnotation secretUpdateOnChangeAnnotation
  secretProviderClassUpdateOnChangeAnnotation reloaderAutoAnnotation ignoreResourceAnnotation
  configmapReloaderAutoAnnotation secretReloaderAutoAnnotation secretProviderClassReloaderAutoAnnotation
  configmapExcludeReloaderAnnotation secretExcludeReloaderAnnotation secretProviderClassExcludeReloaderAnnotation
  autoSearchAnnotation searchMatchAnnotation rolloutStrategyAnnotation pauseDeploymentAnnotation
  pauseDeploymentTimeAnnotation logFormat logLevel isArgoRollouts reloadStrategy reloadOnCreate reloadOnDelete
  syncAfterRestart enableHA enableCSIIntegration webhookUrl resourcesToIgnore workloadTypesToIgnore
  namespaceSelectors resourceSelectors namespacesToIgnore enablePProf pprofAddr`.split(/\s+/u);

function written(argv: readonly string[]): Record<string, Record<string, unknown>> {
  const parsed = parseOptions('watcher', argv, {});
  if (!parsed.ok) throw new Error(parsed.errors.join());
  const data = metaInfo(parsed.options, 'v24.0.0');
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, JSON.parse(text) as Record<string, unknown>]),
  );
}

/** Ours that decide. */
const OWN = `maxListWords maxListBytes maxPatternCost maxWorkloadSources maxNamespaceSources
  lastReloadedFromAnnotation reloadWindow workloadReloadLimit waves bake recreateFinishedJobs requireApproval dryRun
  maxConcurrentRollouts namespaces adopt isOpenshift`.split(/\s+/u);

it('the options have the fields of stakater/Reloader, ours that decide, and no others', () => {
  expect(Object.keys(written([])['reloaderOptions'] ?? {}).sort()).toEqual([...KEYS, ...OWN].sort());
});

it('the options are those that are in force', () => {
  const argv = ['--auto-reload-all', '--reload-strategy=annotations', '--auto-annotation=example.com/auto'];
  const more = ['--log-format=json', '--resources-to-ignore=secrets', '--enable-ha', '--pprof-addr=:7070'];
  expect(written([...argv, ...more])['reloaderOptions']).toMatchObject({
    autoReloadAll: true,
    reloadStrategy: 'annotations',
    reloaderAutoAnnotation: 'example.com/auto',
    logFormat: 'json',
    resourcesToIgnore: ['secrets'],
    enableHA: true,
    pprofAddr: ':7070',
  });
});

it('without flags the options are the incumbent’s defaults', () => {
  expect(written([])['reloaderOptions']).toMatchObject({
    autoReloadAll: false,
    logFormat: '',
    logLevel: 'info',
    reloadStrategy: 'env-vars',
    webhookUrl: '',
    namespacesToIgnore: [],
    enablePProf: false,
    pprofAddr: ':6060',
  });
});

it('of the webhook’s URL only the host is told', () => {
  const { reloaderOptions } = written([
    '--webhook-url=https://user:hunter2@hooks.example:8443/hunter2?k=hunter2',
  ]);
  expect(reloaderOptions?.['webhookUrl']).toBe('hooks.example:8443');
  expect(JSON.stringify(reloaderOptions)).not.toContain('hunter2');
});

it('build and deployment are told under the incumbent’s keys', () => {
  const { buildInfo, deploymentInfo } = written([
    '--reloader-namespace=ops',
    '--reloader-deployment-name=reroll',
  ]);
  expect(buildInfo).toEqual({
    goVersion: 'v24.0.0',
    releaseVersion: VERSION,
    commitHash: 'unknown',
    commitTime: '0001-01-01T00:00:00Z',
    edition: 'oss',
  });
  expect(deploymentInfo).toEqual({ name: 'reroll', namespace: 'ops' });
});
