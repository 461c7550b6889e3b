import { freezeText, MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import { FREEZE_ALL_ANNOTATION, FREEZE_ANNOTATION, untilText } from '@reroll/core/holds/hold';
import { namespacePath } from '@reroll/kube/objects';
import { workloadRef } from '../args/object-ref.ts';
import { ifGiven, untilArgument } from '../args/values.ts';
import { DEFAULT_ADMIN_NAMESPACE } from '../connect/find-admin.ts';
import { annotate, ofExisting, pathOf } from '../direct/annotate.ts';
import { usageError } from '../errors.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { fullName, placedName } from '../views/names.ts';
import { running, type Adder, type Call } from './command.ts';

interface PlaceOptions {
  readonly all?: boolean;
}
interface FreezeOptions extends PlaceOptions {
  readonly until?: string;
  readonly reason: string;
}

/** What is frozen: an annotation of an object. */
interface Place {
  readonly path: string;
  readonly annotation: string;
  readonly name: string;
  /** As an error names it. */
  readonly object: string;
}

export const addFreeze: Adder = (program, host) => {
  program
    .command('freeze')
    .argument('[workload]', 'e.g. deploy/web; without one, the namespace')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('holds all reloads of a workload, a namespace or the installation')
    .description(
      'Holds all reloads of a workload, a namespace or the whole installation, with an annotation that it writes with your rights in the cluster. Pending workloads are reloaded once when the freeze ends.',
    )
    .option('--until <time>', 'e.g. 2026-12-31T00:00:00Z, or 12h from now; default: until unfreeze')
    .requiredOption('--reason <text>', 'reason, shown wherever a reload is held')
    .option('--all', 'the whole installation')
    .action(running<FreezeOptions>(host, runFreeze));
};

export const addUnfreeze: Adder = (program, host) => {
  program
    .command('unfreeze')
    .argument('[workload]', 'e.g. deploy/web; without one, the namespace')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('ends a freeze')
    .description('Ends a freeze of a workload, a namespace or the whole installation.')
    .option('--all', 'the whole installation')
    .action(running<PlaceOptions>(host, runUnfreeze));
};

async function runFreeze({ session, io, words, options }: Call<FreezeOptions>): Promise<void> {
  const { until, reason } = options;
  if (reason.length > MOST_FREEZE_REASON)
    throw usageError(
      `expected a --reason of at most ${MOST_FREEZE_REASON} characters, given ${reason.length}`,
    );
  const end = ifGiven(until, (text) => untilArgument('--until', text, io.now()));
  const place = placeOf(session, words, options);
  await write(session, place, freezeText(end, reason));
  io.out(`${safeText(place.name)} frozen${end === undefined ? '' : ` ${untilText(end)}`}\n`);
}

async function runUnfreeze({ session, io, words, options }: Call<PlaceOptions>): Promise<void> {
  const place = placeOf(session, words, options);
  await write(session, place, null);
  io.out(`${safeText(place.name)} no longer frozen\n`);
}

async function write(
  session: Session,
  { path, annotation, object }: Place,
  value: string | null,
): Promise<void> {
  await ofExisting(object, annotate(session, path, { annotations: { [annotation]: value } }));
}

const ADMIN_NAMESPACE_HINT = 'if the installation is in that namespace: --admin-namespace';

function placeOf(session: Session, words: readonly string[], { all }: PlaceOptions): Place {
  if (all === true) {
    if (words.length > 0) throw usageError('expected a workload or --all, given both');
    if (session.globals.namespace !== undefined)
      throw usageError('expected --namespace or --all, given both', ADMIN_NAMESPACE_HINT);
    const namespace = session.adminNamespace ?? DEFAULT_ADMIN_NAMESPACE;
    return ofNamespace(namespace, FREEZE_ALL_ANNOTATION, `the installation in namespace/${namespace}`);
  }
  if (session.globals.allNamespaces === true)
    throw usageError('expected --all for the whole installation, given --all-namespaces');
  if (words.length === 0)
    return ofNamespace(session.namespace, FREEZE_ANNOTATION, `namespace/${session.namespace}`);
  const workload = workloadRef(words, session.namespace);
  const annotation = FREEZE_ANNOTATION;
  return { path: pathOf(workload), annotation, name: fullName(workload), object: placedName(workload) };
}

function ofNamespace(namespace: string, annotation: string, name: string): Place {
  return { path: namespacePath(namespace), annotation, name, object: `namespace/${namespace}` };
}
