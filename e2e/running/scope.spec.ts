import { beforeEach, describe, expect, it } from 'vitest';
import { AuditLog, requestName } from '../support/audit.ts';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';

let here: Space;
let there: Space;

beforeEach(async () => {
  const client = connect(sharedCluster());
  [here, there] = [await namespace(client), await namespace(client)];
});

async function shop(space: Space): Promise<void> {
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
  );
}

/** A change in both namespaces rolls what is here; there, nothing is written, and nothing outside of here was asked for. */
async function expectHereAlone(reroll: Reroll, audit: AuditLog): Promise<void> {
  await inStep(here, 'Deployment/api', ['ConfigMap/cm', 'Secret/keys']);
  const rollouts = await RolloutCount.from(there, 'Deployment/api');
  for (const space of [there, here]) await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  await settled(reroll, here);
  expect(await rollouts.now()).toBe(0);
  expect(recordOf(await there.get('Deployment/api'))).toEqual({});
  // A stream is in the log once it has ended.
  await reroll.stop();
  const outside = audit
    .of('reroll-')
    .filter(({ objectRef }) => objectRef?.namespace !== here.name && objectRef?.resource !== 'leases');
  // Who they are, and nothing else.
  expect(new Set(outside.map(requestName))).toEqual(new Set(['GET namespaces']));
}

describe('--namespaces', () => {
  it('leaves every other namespace alone: nothing there is read or written', async () => {
    await shop(here);
    await shop(there);
    const audit = new AuditLog(sharedCluster());
    const reroll = await startReroll({
      cluster: sharedCluster(),
      namespaces: [here],
      // Not heeded beside names.
      flags: ['--namespace-selector=nobody=has-it', `--namespaces-to-ignore=${here.name}`],
    });
    await expectHereAlone(reroll, audit);
  });

  it('is what KUBERNETES_NAMESPACE alone says too', async () => {
    await shop(here);
    await shop(there);
    const env = { KUBERNETES_NAMESPACE: here.name };
    const audit = new AuditLog(sharedCluster());
    const reroll = await startReroll({ cluster: sharedCluster(), namespaces: 'all', env });
    await expectHereAlone(reroll, audit);
  });

  it('may be several; without it all are watched', async () => {
    await shop(here);
    await shop(there);
    const both = await startReroll({ cluster: sharedCluster(), namespaces: [here, there] });
    for (const space of [here, there]) await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
    await both.stop();
    await startReroll({ cluster: sharedCluster(), namespaces: 'all' });
    for (const space of [here, there]) {
      await space.setData('ConfigMap/cm', { v: '2' });
      await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
    }
  });

  it('made smaller forgets nothing of what is out of scope now, and made larger again rolls what it missed', async () => {
    await shop(here);
    await shop(there);
    const wide = await startReroll({ cluster: sharedCluster(), namespaces: [here, there] });
    for (const space of [here, there]) await inStep(space, 'Deployment/api', ['ConfigMap/cm', 'Secret/keys']);
    await wide.stop();
    const { install } = wide;
    const narrow = await startReroll({ cluster: sharedCluster(), namespaces: [here], install });
    const rollouts = await RolloutCount.from(there, 'Deployment/api');
    await there.setData('ConfigMap/cm', { v: '2' });
    await settled(narrow, here);
    expect(await rollouts.now()).toBe(0);
    expect(recordOf(await there.get('Deployment/api'))).not.toEqual({});
    await narrow.stop();
    const again = await startReroll({ cluster: sharedCluster(), namespaces: [here, there], install });
    await inStep(there, 'Deployment/api', ['ConfigMap/cm', 'Secret/keys']);
    await settled(again, there);
    expect(await rollouts.now()).toBe(1);
  });
});

describe('--resources-to-ignore', () => {
  it.each([
    ['secrets', 'ConfigMap/cm', 'Secret/keys'],
    ['configmaps', 'Secret/keys', 'ConfigMap/cm'],
  ])(
    '%s: they are never asked for, and the same workload rolls for the others',
    async (ignored, seen, unseen) => {
      await shop(here);
      const audit = new AuditLog(sharedCluster());
      const reroll = await startReroll({
        cluster: sharedCluster(),
        namespaces: [here],
        flags: [`--resources-to-ignore=${ignored}`],
      });
      await inStep(here, 'Deployment/api', [seen]);
      const rollouts = await RolloutCount.from(here, 'Deployment/api');
      await here.setData(unseen, { v: '2' });
      await here.setData(seen, { v: '2' });
      const now = await inStep(here, 'Deployment/api', [seen]);
      expect(await rollouts.now()).toBe(1);
      expect(Object.keys(recordOf(now))).toEqual([seen]);
      // A stream is in the log once it has ended.
      await reroll.stop();
      const asked = new Set(audit.of('reroll-').map(({ objectRef }) => objectRef?.resource));
      expect(asked).toContain(ignored === 'secrets' ? 'configmaps' : 'secrets');
      expect(asked).not.toContain(ignored);
    },
  );
});
