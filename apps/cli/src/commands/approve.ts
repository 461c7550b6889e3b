import { PENDING_ID, pendingIdIn } from '@reroll/core/holds/approval';
import { APPROVED_ANNOTATION } from '@reroll/core/holds/hold';
import { EVENTS } from '@reroll/kube/kube-events';
import { collectionPath } from '@reroll/kube/objects';
import { workloadRef, type WorkloadRef } from '../args/object-ref.ts';
import { annotate, ofExisting, pathOf } from '../direct/annotate.ts';
import { CliError, usageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { fullName, placedName } from '../views/names.ts';
import { running, type Adder, type Call } from './command.ts';

export const addApprove: Adder = (program, host) => {
  program
    .command('approve')
    .argument('<workload>', 'e.g. deploy/web')
    .argument('[id]', 'id of what is pending; default: from the latest Event')
    .summary('approves a pending reload')
    .description(
      'Approves the pending reload of a workload with reroll.dev/approval, with an annotation that it writes with your rights in the cluster. Later changes need a new approval.',
    )
    .action(running(host, runApprove));
};

async function runApprove({ session, io, words }: Call): Promise<void> {
  const [word = '', given] = words;
  const workload = workloadRef([word], session.namespaceOfObject);
  if (given !== undefined && !PENDING_ID.test(given))
    throw usageError(`expected an id of ten hexadecimal digits, given ${JSON.stringify(given)}`);
  const id = given ?? (await latestId(session, workload));
  const written = annotate(session, pathOf(workload), { annotations: { [APPROVED_ANNOTATION]: id } });
  await ofExisting(placedName(workload), written);
  io.out(`${fullName(workload)} approved (${id})\n`);
}

interface EventList {
  readonly items: readonly {
    readonly message?: string;
    readonly metadata: { readonly creationTimestamp?: string };
  }[];
}

/** The id of the latest Event that tells that the workload waits. */
async function latestId(session: Session, { kind, namespace, name }: WorkloadRef): Promise<string> {
  const about = `involvedObject.kind=${kind},involvedObject.name=${name},reason=AwaitsApproval`;
  const path = collectionPath(EVENTS, namespace);
  const { body } = await session.cluster.client.get<EventList>(path, { query: { fieldSelector: about } });
  const times = body.items.map(
    ({ message, metadata }) => [metadata.creationTimestamp ?? '', message ?? ''] as const,
  );
  const [, message = ''] = times.toSorted(([a], [b]) => (a < b ? -1 : 1)).at(-1) ?? [];
  const id = pendingIdIn(message);
  if (id !== undefined) return id;
  throw new CliError(`no Event says that ${kind} ${namespace}/${name} waits for an approval`, {
    hints: [
      'Events are kept for an hour; `kubectl reroll change` shows the id among the details of a change',
    ],
  });
}
