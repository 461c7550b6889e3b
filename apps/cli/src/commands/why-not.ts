import type { Explanation } from '@reroll/shared/api/explain';
import { keyOf } from '@reroll/core/model';
import { sourceRef, workloadRef } from '../args/object-ref.ts';
import { explanationOfCluster } from '../direct/explain.ts';
import type { Io } from '../io.ts';
import { paintFor } from '../output/color.ts';
import { printDocument, type Output } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { facts, table } from '../output/table.ts';
import { explanationFacts, RULE_COLUMNS } from '../views/explanation.ts';
import { oneOutput, running, type Adder, type Call } from './command.ts';
import { directOption, FLAGS, isDirect, rerollFlags, type DirectOptions } from './direct-option.ts';

interface WhyNotOptions extends DirectOptions {
  readonly source: string;
}

export const addWhyNot: Adder = (program, host) => {
  program
    .command('why-not')
    .argument('<workload>', 'e.g. deploy/web')
    .argument('[name]', 'its name, unless given with the kind')
    .argument(...FLAGS)
    .requiredOption('--source <source>', 'e.g. secret/db')
    .summary('whether a workload reloads when a source changes, rule by rule')
    .description(
      'Shows whether a workload reloads when a source changes, and why: what each rule says, in order, and which one decides. Without an admin in the cluster, it reads both objects with your own rights and applies the same rules.',
    )
    .addOption(directOption())
    .addOption(oneOutput())
    .action(running<WhyNotOptions>(host, runWhyNot));
};

async function runWhyNot({ session, io, words: given, options }: Call<WhyNotOptions>): Promise<void> {
  const { words, flags } = rerollFlags(given);
  const workload = workloadRef(words, session.namespaceOfObject);
  const source = sourceRef([options.source], workload.namespace);
  if (await isDirect(session, options, flags)) {
    const { explanation, settings } = await explanationOfCluster(session, { workload, source, flags });
    return printExplanation(io, options.output, { ...explanation, settings });
  }
  const query = { workload: keyOf(workload), source: keyOf(source) };
  printExplanation(io, options.output, await (await session.admin()).call('explain', { query }));
}

function printExplanation(
  io: Io,
  output: Output | undefined,
  explanation: Explanation & { readonly settings?: string },
): void {
  if (printDocument(io, output, explanation)) return;
  const paint = paintFor(io, io.outIsTerminal);
  const { settings } = explanation;
  io.out(`${safeText(explanation.conclusion)}\n\n`);
  io.out(
    facts(
      [
        ...explanationFacts(explanation),
        ...(settings === undefined ? [] : [['Settings', settings] as const]),
      ],
      paint,
    ),
  );
  io.out(`\n${table(RULE_COLUMNS, explanation.rules, { paint })}`);
}
