import { sourceRef } from '../args/object-ref.ts';
import { durationArgument } from '../args/values.ts';
import { EXIT, usageError, type ExitCode } from '../errors.ts';
import { humanDuration } from '../output/age.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import { consumersView, countsOf } from '../views/consumers.ts';
import { shortName } from '../views/names.ts';
import { oneOutput, running, type Adder, type Call } from './command.ts';
import { kubeletDelay, kubeletDelayOption } from './stale.ts';
import { waitUntilConverged, type Convergence } from './wait-until-converged.ts';

interface WaitOptions {
  readonly timeout: string;
  readonly kubeletDelay: string;
}

export const addWait: Adder = (program, host) => {
  program
    .command('wait')
    .argument('<source>', 'e.g. secret/db')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('waits until no running container has older data of a ConfigMap or Secret')
    .description(
      'Waits until every running container that uses the source has its current data, so that the old data can be revoked. Exits with 0 then, or after --timeout with 1 and a list of the others. It needs no admin: it reads pods, and the metadata of the source, with your own rights. It reads no data.',
    )
    .requiredOption('--converged', 'what to wait for')
    .option('--timeout <duration>', 'maximum time to wait', '10m')
    .addOption(kubeletDelayOption())
    .addOption(oneOutput())
    .action(running<WaitOptions>(host, runWait));
};

async function runWait({ session, words, options }: Call<WaitOptions>): Promise<ExitCode> {
  const source = sourceRef(words, session.namespaceOfObject);
  if (source.kind === 'SecretProviderClass') {
    throw usageError(
      'expected a ConfigMap or Secret: nothing tells which data of a SecretProviderClass a pod has',
    );
  }
  const timeoutMs = durationArgument('--timeout', options.timeout);
  if (timeoutMs === undefined) throw usageError('expected --timeout to be more than 0');
  const { io } = session;
  const delay = kubeletDelay(options.kubeletDelay);
  const found = await waitUntilConverged(session, { source, timeoutMs, delay });
  if (io.signal.aborted) return EXIT.interrupted;
  const others = found.consumers.filter(({ state }) => state !== 'current');
  const document = { converged: found.isConverged, source, items: others };
  if (!printDocument(io, options.output, document)) {
    if (found.isConverged) io.out(`${safeText(shortName(source))} converged (${usersOf(found)})\n`);
    else if (others.length > 0) {
      io.out(table(consumersView(io.now()).columns, others, { paint: paintFor(io, io.outIsTerminal) }));
    }
  }
  if (found.isConverged) return EXIT.done;
  io.err(`Not converged within ${humanDuration(timeoutMs)}: ${countsOf(others)}.\n`);
  if (found.error !== undefined) io.err(`The last answer was: ${safeText(found.error.message)}\n`);
  return EXIT.failed;
}

function usersOf({ consumers }: Convergence): string {
  if (consumers.length === 0) return 'no running container uses it';
  const pods = new Set(consumers.map(({ pod }) => pod)).size;
  const files = consumers.filter(({ use }) => use === 'volume').length;
  const note = files === 0 ? '' : `; of files, which a process may not have read again: ${files}`;
  return `uses: ${consumers.length}, in pods: ${pods}${note}`;
}
