import { beforeEach, describe, expect, it } from 'vitest';
import {
  IGNORED,
  MATCHING,
  annotated,
  auto,
  configMap,
  deployment,
  naming,
  searching,
  secret,
  usingEnvFrom,
  usingVolume,
} from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type Manifest, type Space } from './support/kube.ts';
import { startReroll } from './support/reroll.ts';
import { RolloutCount, settled } from './support/rollouts.ts';

/**
 * That annotations and settings reach the decision in both processes. What they come to in every combination
 * is a matter of `core`, and tested there.
 */
const PREFIX = 'reloader.stakater.com';

let space: Space;

beforeEach(async () => {
  space = await namespace(connect(sharedCluster()));
});

/** How often each of them is rolled when every source changes, once. */
async function rolled(workloads: readonly Manifest[], flags: readonly string[] = []): Promise<unknown> {
  const sources = [
    configMap('cm', { v: '1' }),
    configMap('matching', { v: '1' }, MATCHING),
    configMap('ignored', { v: '1' }, IGNORED),
    secret('keys', { v: '1' }),
  ];
  await space.apply(...sources, ...workloads);
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    debounce: '500ms',
    flags,
  });
  await settled(reroll, space);
  const names = workloads.map(({ metadata }) => metadata.name);
  const counts = await Promise.all(names.map((name) => RolloutCount.from(space, `Deployment/${name}`)));
  for (const { kind, metadata } of sources) await space.setData(`${kind}/${metadata.name}`, { v: '2' });
  await settled(reroll, space);
  const now = await Promise.all(counts.map((count) => count.now()));
  return Object.fromEntries(names.map((name, index) => [name, now[index]]));
}

it('annotations decide: auto, typed auto, search, names, exclusions, and what a source says of itself', async () => {
  const all = [usingEnvFrom('cm'), usingVolume('Secret/keys')];
  const workloads = [
    deployment('auto', auto(), ...all),
    deployment('nothing', ...all),
    deployment('false', annotated({ [`${PREFIX}/auto`]: 'false' }), ...all),
    deployment('typed', annotated({ [`secret.${PREFIX}/auto`]: 'true' }), usingVolume('Secret/keys')),
    deployment('mistyped', annotated({ [`secret.${PREFIX}/auto`]: 'true' }), usingEnvFrom('cm')),
    deployment(
      'excluded',
      auto(),
      annotated({ [`configmaps.exclude.${PREFIX}/reload`]: 'cm' }),
      usingEnvFrom('cm'),
    ),
    deployment('searching', searching(), usingEnvFrom('matching')),
    deployment('unmatched', searching(), usingEnvFrom('cm')),
    deployment('ignoring', auto(), usingEnvFrom('ignored')),
    deployment('ignoring-by-name', naming('ignored')),
    deployment('unused', auto()),
    deployment('pattern', naming('c.', 'Secret/k.*')),
  ];
  expect(await rolled(workloads)).toEqual({
    auto: 1,
    nothing: 0,
    false: 0,
    typed: 1,
    mistyped: 0,
    excluded: 0,
    searching: 1,
    unmatched: 0,
    ignoring: 0,
    'ignoring-by-name': 0,
    unused: 0,
    pattern: 1,
  });
});

describe('settings decide', () => {
  it('--auto-reload-all: whoever does not say otherwise', async () => {
    const workloads = [
      deployment('nothing', usingEnvFrom('cm')),
      deployment('false', annotated({ [`${PREFIX}/auto`]: 'false' }), usingEnvFrom('cm')),
      deployment('unused'),
    ];
    expect(await rolled(workloads, ['--auto-reload-all'])).toEqual({ nothing: 1, false: 0, unused: 0 });
  });

  it('--auto-annotation and the like: the keys of an installation', async () => {
    const workloads = [
      deployment('own', annotated({ 'example.com/auto': 'true' }), usingEnvFrom('cm')),
      deployment('own-name', annotated({ 'example.com/configmaps': 'cm' })),
      deployment('default', auto(), usingEnvFrom('cm')),
    ];
    const flags = ['--auto-annotation=example.com/auto', '--configmap-annotation=example.com/configmaps'];
    // The specs' own way to know that all is done names its sources by annotation.
    flags.push('--secret-annotation=secret.reloader.stakater.com/reload');
    await expect(rolledOf(workloads, flags)).resolves.toEqual({ own: 1, 'own-name': 1, default: 0 });
  });
});

/** `rolled`, where the keys of the control workload are not the default ones. */
async function rolledOf(workloads: readonly Manifest[], flags: readonly string[]): Promise<unknown> {
  const control = { 'example.com/configmaps': 'e2e-control' };
  await space.apply(
    configMap('e2e-control', { change: '' }),
    secret('e2e-control', { change: '' }),
    deployment('e2e-control', annotated(control), naming('Secret/e2e-control')),
  );
  return await rolled(workloads, flags);
}
