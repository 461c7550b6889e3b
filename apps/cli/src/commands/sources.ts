import { listed } from '../api/pages.ts';
import { sourceKindOf, SOURCE_WORDS } from '../args/kinds.ts';
import { sourceRef } from '../args/object-ref.ts';
import { ifGiven, notOneOf } from '../args/values.ts';
import { paintFor } from '../output/color.ts';
import { printList, printNamed } from '../output/print.ts';
import { facts, table } from '../output/table.ts';
import { fullName } from '../views/names.ts';
import { sourceFacts, sourcesView } from '../views/sources.ts';
import { DEPENDENCIES_OF_SOURCE, historyColumns } from '../views/workloads.ts';
import { limitOption, listOutput, running, type Adder, type Call } from './command.ts';
import { limitOf, NO_LIMIT, nounIn, requireNoFilters } from './list-options.ts';

interface SourcesOptions {
  readonly kind?: string;
  readonly name?: string;
  readonly limit: string;
}

export const addSources: Adder = (program, host) => {
  program
    .command('sources')
    .argument('[source]', 'only this one, in detail, e.g. secret/db')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('all ConfigMaps and Secrets, or one in detail')
    .description(
      'Lists the ConfigMaps, Secrets and SecretProviderClasses that Reroll knows, or shows one: the workloads that depend on it, and its history.',
    )
    .addOption(listOutput())
    .option('--kind <kind>', `only of this kind: ${SOURCE_WORDS.join(', ')}`)
    .option('--name <part>', 'only names that contain this')
    .addOption(limitOption(NO_LIMIT))
    .action(
      running<SourcesOptions>(host, async (call) => {
        if (call.words.length === 0) return await listSources(call);
        requireNoFilters(call.options, ['kind', 'name']);
        return await printSource(call);
      }),
    );
};

async function listSources({ session, io, options }: Call<SourcesOptions>): Promise<void> {
  const namespace = session.namespaceOfLists;
  const kind = ifGiven(options.kind, (text) => {
    const found = sourceKindOf(text);
    if (found === undefined) throw notOneOf('--kind', text, SOURCE_WORDS);
    return found;
  });
  const query = { namespace, kind, name: options.name };
  const limit = limitOf(options.limit);
  const { items, more } = await listed(await session.admin(), 'listSources', { query, limit });
  const view = sourcesView({ now: io.now(), namespaces: namespace === undefined });
  printList(io, options.output, { items, more, noun: nounIn('sources', namespace), view });
}

async function printSource({ session, io, words, options }: Call<SourcesOptions>): Promise<void> {
  const params = sourceRef(words, session.namespaceOfObject);
  const source = await (await session.admin()).call('getSource', { params });
  if (printNamed(io, options.output, { value: source, name: fullName(source) })) return;
  const paint = paintFor(io, io.outIsTerminal);
  const now = io.now();
  const wide = options.output === 'wide';
  io.out(facts(sourceFacts(source, now), paint));
  if (source.workloadsInDetail.length > 0) {
    io.out(`\n${table(DEPENDENCIES_OF_SOURCE, source.workloadsInDetail, { paint, wide })}`);
  }
  if (source.history.length > 0) {
    io.out(`\n${table(historyColumns('source', now), source.history, { paint, wide })}`);
  }
}
