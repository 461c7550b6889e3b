/**
 * A candidate in its own process, to be frozen by a signal. Prints one line for each event: `acquired`, `lost <reason>`, and `leads
 * <boolean>` whenever the answer changes.
 *
 * Usage: `node lease-candidate.ts <kubeconfig> <namespace> <name>`
 */
import { KubeClient } from '../client/connection.ts';
import { LeaderElector } from '../lease/lease.ts';
import { SHORT_TIMES } from './short-times.ts';

const [kubeconfig = '', namespace = '', name = ''] = process.argv.slice(2);
const tell = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const elector = new LeaderElector({
  client: new KubeClient({ kubeconfig, userAgent: 'reroll-spec/0' }),
  namespace,
  name,
  identity: 'child',
  ...SHORT_TIMES,
  callbacks: { onAcquired: () => tell('acquired'), onLost: (reason) => tell(`lost ${reason}`) },
});
elector.start();

let leads = false;
setInterval(() => {
  const now = elector.isLeader();
  if (now !== leads) tell(`leads ${now}`);
  leads = now;
}, 5);
