import { expect, it } from 'vitest';
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
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { countRollouts, settled } from '../support/objects/rollouts.ts';

const cm = usingEnvFrom('cm');
const keys = usingVolume('Secret/keys');

const PREFIX = 'reloader.stakater.com';

type Asking = Readonly<Record<string, readonly [rollouts: number, ...modifiers: readonly Modifier[]]>>;

/** By name: how often it is reloaded when every source changes, once. */
const BY_ANNOTATIONS: Asking = {
  auto: [1, auto(), cm, keys],
  nothing: [0, cm, keys],
  false: [0, annotated({ [`${PREFIX}/auto`]: 'false' }), cm],
  typed: [1, annotated({ [`secret.${PREFIX}/auto`]: 'true' }), keys],
  mistyped: [0, annotated({ [`secret.${PREFIX}/auto`]: 'true' }), cm],
  excluded: [0, auto(), annotated({ [`configmaps.exclude.${PREFIX}/reload`]: 'cm' }), cm],
  searching: [1, searching(), usingEnvFrom('matching')],
  unmatched: [0, searching(), cm],
  ignoring: [0, auto(), usingEnvFrom('ignored')],
  'ignoring-by-name': [0, naming('ignored')],
  unused: [0, auto()],
  pattern: [1, naming('c.', 'Secret/k.*')],
};

const OWN = { auto: 'example.com/auto', names: 'example.com/names' };
const SETTINGS = [
  '--auto-reload-all',
  `--auto-annotation=${OWN.auto}`,
  `--configmap-annotation=${OWN.names}`,
];
const BY_SETTINGS: Asking = {
  nothing: [1, cm],
  false: [0, annotated({ [OWN.auto]: 'false' }), cm],
  'false-by-another-key': [1, annotated({ [`${PREFIX}/auto`]: 'false' }), cm],
  ignoring: [0, usingEnvFrom('ignored')],
  named: [1, annotated({ [OWN.names]: 'c.' })],
  'named-by-another-key': [0, naming('cm')],
  unused: [0],
};

/**
 * That annotations and settings reach the decision in both processes. What they come to in every combination
 * is a matter of `core`, and tested there; each key can be set by a flag, which the platform's specs show.
 */
it.each([
  ['annotations', BY_ANNOTATIONS, []],
  ['settings', BY_SETTINGS, SETTINGS],
])('%s decide', async (_, asking, flags) => {
  const space = await namespace(connect(sharedCluster()));
  const names = Object.keys(asking);
  const sources = [
    configMap('cm', { v: '1' }),
    configMap('matching', { v: '1' }, MATCHING),
    configMap('ignored', { v: '1' }, IGNORED),
    secret('keys', { v: '1' }),
  ];
  await space.apply(...sources);
  await space.applyAll(
    Object.entries(asking).map(([name, [, ...modifiers]]) => deployment(name, ...modifiers)),
  );
  // What `settled` changes, by whichever key.
  await space.apply(
    configMap('e2e-control', { change: '' }),
    secret('e2e-control', { change: '' }),
    deployment(
      'e2e-control',
      naming('e2e-control', 'Secret/e2e-control'),
      annotated({ [OWN.names]: 'e2e-control' }),
    ),
  );
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    debounce: '2500ms',
    flags,
  });
  await settled(reroll, space);
  const rollouts = await countRollouts(
    space,
    names.map((name) => `Deployment/${name}`),
  );
  for (const { kind, metadata } of sources) await space.setData(`${kind}/${metadata.name}`, { v: '2' });
  await settled(reroll, space);
  const counts = await rollouts();
  const expected = Object.entries(asking).map(([name, [count]]) => [name, count]);
  expect(names.map((name, index) => [name, counts[index]])).toEqual(expected);
});
