import { KUBELET_DELAY } from '@reroll/core/convergence/verdict';
import type { SourceRef } from '@reroll/core/references/pod-uses';
import { ConvergenceReading } from '@reroll/kube/convergence/convergence-reading';
import { Option } from 'commander';
import { sourceRef } from '../args/object-ref.ts';
import { durationArgument, ifGiven } from '../args/values.ts';
import { printList } from '../output/print.ts';
import type { Session } from '../session.ts';
import { consumersView } from '../views/consumers.ts';
import { listOutput, running, type Adder, type Call } from './command.ts';
import { nounIn } from './list-options.ts';

interface StaleOptions {
  readonly source?: string;
  readonly all?: boolean;
  readonly kubeletDelay: string;
}

export const addStale: Adder = (program, host) => {
  program
    .command('stale')
    .summary('containers that run with older data of a ConfigMap or Secret')
    .description(
      'Lists the containers that run with older data of a ConfigMap or Secret, and those for which this is unknown, with the reason. It needs neither an admin nor annotations: it reads pods, and the metadata of what they use, with your own rights. It reads no data.',
    )
    .addOption(listOutput())
    .option('--source <source>', 'only of this source, e.g. secret/db')
    .option('--all', 'also containers with the current data')
    .addOption(kubeletDelayOption())
    .action(running<StaleOptions>(host, runStale));
};

export function kubeletDelayOption(): Option {
  return new Option(
    '--kubelet-delay <duration>',
    'how long kubelets may take to notice a write, and lost nodes to show in their pods',
  ).default(`${KUBELET_DELAY}s`);
}

/** Seconds. */
export function kubeletDelay(text: string): number {
  return (durationArgument('--kubelet-delay', text) ?? 0) / 1_000;
}

async function runStale({ session, io, options }: Call<StaleOptions>): Promise<void> {
  const only = ifGiven(options.source, (text) => sourceRef([text], session.namespace));
  const namespace = options.allNamespaces === true ? undefined : (only?.namespace ?? session.namespace);
  const reading = readingOf(session, kubeletDelay(options.kubeletDelay));
  const isMeant = ({ kind, name }: SourceRef): boolean =>
    only === undefined ? !isOfKubernetes(name) : kind === only.kind && name === only.name;
  const { using } = await reading.pods(namespace, isMeant);
  const found = await reading.consumers(using, await reading.sourcesOf(using));
  const items = options.all === true ? found : found.filter(({ state }) => state !== 'current');
  const noun = options.all === true ? 'containers that use a source' : 'containers with older data';
  const view = consumersView(io.now());
  printList(io, options.output, { items, more: false, noun: nounIn(noun, namespace), view });
}

export function readingOf(session: Session, delay: number, signal = session.io.signal): ConvergenceReading {
  return new ConvergenceReading({ client: session.cluster.client, now: session.io.now, signal, delay });
}

/** What Kubernetes and OpenShift mount into every pod. */
function isOfKubernetes(name: string): boolean {
  return name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt';
}
