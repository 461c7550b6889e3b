import { beforeEach, describe, expect, it } from 'vitest';
import {
  annotated,
  auto,
  configMap,
  deployment,
  naming,
  searching,
  secret,
  usingEnvFrom,
  usingVolume,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Manifest, type Space } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, settled } from '../support/objects/rollouts.ts';

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
async function rolled(
  workloads: readonly Manifest[],
  flags: readonly string[] = [],
  prefix = PREFIX,
): Promise<unknown> {
  const sources = [
    configMap('cm', { v: '1' }),
    configMap('matching', { v: '1' }, { annotations: { [`${prefix}/match`]: 'true' } }),
    configMap('ignored', { v: '1' }, { annotations: { [`${prefix}/ignore`]: 'true' } }),
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
    const own = (short: string, value = 'true'): Modifier => annotated({ [`example.com/${short}`]: value });
    const workloads = [
      deployment('auto', own('auto'), usingEnvFrom('cm')),
      deployment('ignoring', own('auto'), usingEnvFrom('ignored')),
      deployment('cm-auto', own('cm-auto'), usingEnvFrom('cm')),
      deployment('secret-auto', own('secret-auto'), usingVolume('Secret/keys')),
      deployment('named', own('cm', 'cm')),
      deployment('secret-named', own('secret', 'k.*')),
      deployment('searching', own('search'), usingEnvFrom('matching')),
      deployment('unmatched', own('search'), usingEnvFrom('cm')),
      deployment('excluded', own('auto'), own('cm-exclude', 'cm'), usingEnvFrom('cm')),
      deployment('default', auto(), usingEnvFrom('cm')),
      deployment('default-name', naming('cm', 'Secret/keys')),
      deployment('default-search', searching(), usingEnvFrom('matching')),
    ];
    const flags = {
      auto: 'auto',
      'configmap-auto': 'cm-auto',
      'secret-auto': 'secret-auto',
      configmap: 'cm',
      secret: 'secret',
      'auto-search': 'search',
      'search-match': 'match',
      ignore: 'ignore',
      'configmap-exclude': 'cm-exclude',
    };
    const given = Object.entries(flags).map(([flag, short]) => `--${flag}-annotation=example.com/${short}`);
    await expect(rolledOf(workloads, given)).resolves.toEqual({
      auto: 1,
      ignoring: 0,
      'cm-auto': 1,
      'secret-auto': 1,
      named: 1,
      'secret-named': 1,
      searching: 1,
      unmatched: 0,
      excluded: 0,
      default: 0,
      'default-name': 0,
      'default-search': 0,
    });
  });
});

/** `rolled`, where the keys of the control workload are not the default ones. */
async function rolledOf(workloads: readonly Manifest[], flags: readonly string[]): Promise<unknown> {
  const control = { 'example.com/cm': 'e2e-control', 'example.com/secret': 'e2e-control' };
  await space.apply(
    configMap('e2e-control', { change: '' }),
    secret('e2e-control', { change: '' }),
    deployment('e2e-control', annotated(control)),
  );
  return await rolled(workloads, flags, 'example.com');
}
