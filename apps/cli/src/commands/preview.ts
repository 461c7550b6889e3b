import type { Preview, PreviewRequest } from '@reroll/shared/api/explain';
import { annotationChanges, annotationsAfter, type AnnotationChanges } from '../args/annotation-changes.ts';
import { anyRef, isSourceRef, type SourceRef, type WorkloadRef } from '../args/object-ref.ts';
import { annotationsOfCluster, previewOfCluster, type PresentAnnotations } from '../direct/preview.ts';
import { CliError, usageError } from '../errors.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Session } from '../session.ts';
import { verdictColumns } from '../views/explanation.ts';
import { placedName } from '../views/names.ts';
import { oneOutput, running, type Adder, type Call } from './command.ts';
import { directOption, FLAGS, isDirect, rerollFlags, type DirectOptions } from './direct-option.ts';

interface PreviewOptions extends DirectOptions {
  readonly annotate?: readonly string[];
  readonly annotatePods?: readonly string[];
}

export const addPreview: Adder = (program, host) => {
  program
    .command('preview')
    .argument('<object>', 'a source, e.g. secret/db, or a workload, e.g. deploy/web')
    .argument('[name]', 'its name, unless given with the kind')
    .argument(...FLAGS)
    .summary('what would reload if a source or annotations changed')
    .description(
      'Shows what would reload if a source changed; with --annotate, as if the object had these annotations too. Nothing is changed. Without an admin in the cluster, it reads the namespace with your own rights and applies the same rules.',
    )
    .option('--annotate <key=value...>', 'as if the object had this annotation; key- removes one')
    .option('--annotate-pods <key=value...>', "the same for a workload's pod template")
    .addOption(directOption())
    .addOption(oneOutput())
    .action(running<PreviewOptions>(host, runPreview));
};

interface Proposal {
  readonly own: AnnotationChanges | undefined;
  readonly pods: AnnotationChanges | undefined;
}

async function runPreview({ session, io, words: given, options }: Call<PreviewOptions>): Promise<void> {
  const { words, flags } = rerollFlags(given);
  const object = anyRef(words, session.namespaceOfObject);
  const proposal = proposalOf(options, isSourceRef(object));
  const { preview, settings } = (await isDirect(session, options, flags))
    ? await directPreview(session, { object, proposal, flags })
    : await adminPreview(session, object, proposal);
  const answer = settings === undefined ? preview : { ...preview, settings };
  if (!printDocument(io, options.output, answer)) printPreview(session, preview, settings);
}

function proposalOf({ annotate, annotatePods }: PreviewOptions, isSource: boolean): Proposal {
  const own = annotate && annotationChanges('--annotate', annotate);
  const pods = annotatePods && annotationChanges('--annotate-pods', annotatePods);
  if (isSource && pods !== undefined) throw usageError('expected --annotate-pods with a workload only');
  if (!isSource && own === undefined && pods === undefined) {
    throw usageError('expected --annotate with a workload; use `why` to see what restarts it today');
  }
  return { own, pods };
}

interface Previewed {
  readonly preview: Preview;
  readonly settings?: string;
}

async function adminPreview(
  session: Session,
  object: SourceRef | WorkloadRef,
  proposal: Proposal,
): Promise<Previewed> {
  const request = await requestOf(object, proposal, () => annotationsOfAdmin(session, object));
  return { preview: await (await session.admin()).call('preview', { body: request }) };
}

async function directPreview(
  session: Session,
  {
    object,
    proposal,
    flags,
  }: { object: SourceRef | WorkloadRef; proposal: Proposal; flags: readonly string[] },
): Promise<Previewed> {
  const request = await requestOf(object, proposal, () => annotationsOfCluster(session, object));
  return await previewOfCluster(session, request, flags);
}

/** The complete annotations that the API takes: the present ones with the changes. */
async function requestOf(
  object: SourceRef | WorkloadRef,
  { own, pods }: Proposal,
  present: () => Promise<PresentAnnotations>,
): Promise<PreviewRequest> {
  if (own === undefined && pods === undefined && isSourceRef(object)) return { of: 'source', source: object };
  const { annotations, podAnnotations } = await present();
  const proposed = annotationsAfter(annotations, own ?? {});
  if (isSourceRef(object)) return { of: 'source', source: object, annotations: proposed };
  const forPods = pods === undefined ? {} : { podAnnotations: annotationsAfter(podAnnotations, pods) };
  return { of: 'workload', workload: object, annotations: proposed, ...forPods };
}

async function annotationsOfAdmin(
  session: Session,
  object: SourceRef | WorkloadRef,
): Promise<PresentAnnotations> {
  const api = await session.admin();
  if (isSourceRef(object)) {
    const { annotations } = await api.call('getSource', { params: object });
    return { annotations, podAnnotations: {} };
  }
  const workload = await api.call('getWorkload', { params: object });
  if (workload.excess === undefined) return workload;
  throw new CliError(
    `the admin does not know all annotations of ${placedName(object)}, which exceeds a limit: ${workload.excess}`,
    { hints: ['--direct reads them with your own rights'] },
  );
}

function printPreview({ io }: Session, preview: Preview, settings: string | undefined): void {
  const paint = paintFor(io, io.outIsTerminal);
  io.out(`${safeText(preview.conclusion)}\n`);
  if (settings !== undefined) io.out(`Settings: ${safeText(settings)}\n`);
  if (preview.verdicts.length > 0)
    io.out(`\n${table(verdictColumns(preview.verdicts), preview.verdicts, { paint })}`);
  if (preview.today.length > 0)
    io.out(`\nToday, where it differs:\n${table(verdictColumns(preview.today), preview.today, { paint })}`);
}
