import { beforeAll, expect, it } from 'vitest';
import { CERTIFICATES } from '@reroll/core/testing/certificates';
import { auto, deployment, secret, usingVolume } from '../support/objects/builders.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const { sooner, later } = CERTIFICATES;
const TLS = 'kubernetes.io/tls';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  await space.apply(
    secret('tls', { 'tls.crt': sooner.pem, 'tls.key': 'k' }, { type: TLS }),
    secret('unused', { 'tls.crt': sooner.pem, 'tls.key': 'k' }, { type: TLS }),
    deployment('web', auto(), usingVolume('Secret/tls')),
  );
  reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    debounce: '0',
    sweepInterval: '500ms',
  });
  await inStep(space, 'Deployment/web', ['Secret/tls']);
});

/** Waits until the watcher counts so many stale workloads, and has this date and no other. */
async function shows(stale: number, expiresAt: number): Promise<void> {
  const series = `reroll_certificate_expiry_timestamp_seconds{secret_namespace="${space.name}",secret="tls"}`;
  await eventually(async () => {
    const lines = (await (await reroll.leader()).metrics()).split('\n');
    expect(lines).toContain(`reroll_stale_workloads ${stale}`);
    const dates = lines.filter((line) => line.startsWith('reroll_certificate_expiry_timestamp_seconds'));
    expect(dates).toEqual([`${series} ${expiresAt}`]);
    return true;
  });
}

it('a certificate that is renewed counts once the hold has ended and the pods were replaced', async () => {
  await shows(0, sooner.expiresAt);
  await space.annotate('Deployment/web', { 'reroll.dev/freeze': '; a test' });
  await space.setData('Secret/tls', { 'tls.crt': later.pem, 'tls.key': 'k' });
  await shows(1, sooner.expiresAt);
  await space.event('Deployment/web', 'Frozen');
  await shows(1, sooner.expiresAt);
  await space.annotate('Deployment/web', { 'reroll.dev/freeze': null });
  await inStep(space, 'Deployment/web', ['Secret/tls']);
  await shows(0, later.expiresAt);
});
