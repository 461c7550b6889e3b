/** The role `make-secrets`: a Job of the chart makes its Secrets by it, so that what Helm renders has no random values. */
import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { VERSION } from '@reroll/shared/platform/process/version';
import { HELP, readArguments, type Wanted } from './arguments.ts';
import { makeSecret } from './make-secret.ts';

/** How long requests that may succeed later are retried. Then the process ends, and the Job starts another. */
const DEADLINE_MS = 120_000;

const wanted = wantedOf(process.argv.slice(2));
if (wanted !== undefined) await makeAll(wanted);

function wantedOf(args: readonly string[]): Wanted | undefined {
  try {
    const read = readArguments(args);
    if (read !== 'help') return read;
    process.stdout.write(`${HELP}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nRun with --help for the usage.\n`);
    process.exitCode = 2;
  }
  return undefined;
}

async function makeAll({ secrets, ...options }: Wanted): Promise<void> {
  const client = new KubeClient({ userAgent: `reroll-make-secrets/${VERSION}` });
  const namespace = options.namespace ?? client.namespace ?? 'default';
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    for (const secret of secrets) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const done = await retried(() => makeSecret(client, namespace, secret), signal);
      process.stdout.write(`${done}\n`);
    }
  } catch (error) {
    process.stderr.write(`cannot make the Secrets in namespace ${namespace}: ${String(error)}\n`);
    process.exitCode = 1;
  } finally {
    await client.close();
  }
}

/** Also after a conflict: somebody else has made or changed the Secret. */
async function retried(make: () => Promise<string>, signal: AbortSignal): Promise<string> {
  const backoff = new Backoff({ maxMs: 10_000 });
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      return await make();
    } catch (error) {
      const isRetried = error instanceof KubeError && (error.retryable || error.status === 409);
      if (!isRetried || signal.aborted) throw error;
      process.stderr.write(`retrying: ${error.message}\n`);
      // oxlint-disable-next-line no-await-in-loop -- the same
      await pause(systemClock, backoff.next(), signal);
    }
  }
}
