import type { Change } from '@reroll/shared/api/changes';
import type { HistoryEntry, Workload } from '@reroll/shared/api/workloads';
import type { AdminApi } from '../api/admin-api.ts';
import { workloadRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import { age } from '../output/age.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { tree } from '../output/tree.ts';
import { printOfCluster, whyOfCluster } from '../direct/why.ts';
import { shortKey, shortName } from '../views/names.ts';
import { lastReloadOf, whyBranches, type Reload } from '../views/why.ts';
import { running, wideOutput, type Adder, type Call } from './command.ts';
import { directOption, FLAGS, isDirect, rerollFlags, type DirectOptions } from './direct-option.ts';

export const addWhy: Adder = (program, host) => {
  program
    .command('why')
    .argument('<workload>', 'e.g. deploy/web')
    .argument('[name]', 'its name, unless given with the kind')
    .argument(...FLAGS)
    .summary('why a workload was last reloaded')
    .description(
      'Shows why a workload was last reloaded: the change, the rollout, what is pending, each of its sources with the reason, and earlier reloads. Without an admin in the cluster, it reads the workload and its sources with your own rights and applies the same rules; there is no history then.',
    )
    .addOption(wideOutput())
    .addOption(directOption())
    .action(running<DirectOptions>(host, runWhy));
};

async function runWhy(call: Call<DirectOptions>): Promise<void> {
  const { session, io, options } = call;
  const { words, flags } = rerollFlags(call.words);
  const params = workloadRef(words, session.namespaceOfObject);
  if (await isDirect(session, options, flags)) {
    return printOfCluster(session, options.output, await whyOfCluster(session, params, flags));
  }
  const api = await session.admin();
  const workload = await api.call('getWorkload', { params });
  if (printDocument(io, options.output, workload)) return;
  const view = { now: io.now(), wide: options.output === 'wide' };
  io.out(`${safeText(await reloadText(api, workload, view.now))}\n`);
  io.out(tree(whyBranches(workload, view), paintFor(io, io.outIsTerminal)));
}

/** The last reload in two sentences. */
async function reloadText(api: AdminApi, workload: Workload, now: number): Promise<string> {
  const name = shortName(workload);
  const last = lastReloadOf(workload);
  if (last === undefined) {
    const { historyFrom: from } = workload;
    const before =
      from === undefined
        ? 'Reroll may have reloaded it before the history begins.'
        : `It begins at ${from}; Reroll may have reloaded the workload before.`;
    return `The history has no reload of ${name}. ${before}`;
  }
  const change = await changeOf(api, last);
  const details = last.change === null ? last.reason : `change ${last.change}, ${last.reason}`;
  const pods = PODS[last.state];
  return `Reroll reloaded ${name} ${age(last.at, now)} ago, ${causeText(last, change)} (${details}). ${pods}`;
}

async function changeOf(api: AdminApi, { change: id }: HistoryEntry): Promise<Change | undefined> {
  if (id === null) return undefined;
  try {
    return await api.call('getChange', { params: { id } });
  } catch (error) {
    // The history may no longer have it.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function causeText(entry: HistoryEntry, change: Change | undefined): string {
  // One reload can be for a change and at the request of a user, e.g. in spite of a freeze.
  const request = change?.request ?? entry.request;
  if (request && entry.source !== null)
    return `${sourceText(entry)}, and ${request.actor} asked for it: ${request.reason}`;
  if (request) return `because ${request.actor} asked for it: ${request.reason}`;
  if (entry.cause === 'manual') return 'because a user asked for it';
  return sourceText(entry);
}

function sourceText(entry: HistoryEntry): string {
  const [first, ...others] = sourcesOf(entry);
  if (first === undefined) return 'for a reason that the history no longer has';
  // How each of the others changed is not in the history.
  const andOthers = others.length === 0 ? '' : ` and ${others.join(', ')} had changed`;
  return `because ${first} was ${VERBS[entry.cause ?? 'updated'] ?? 'updated'}${andOthers}`;
}

/** The source of the change first. */
function sourcesOf({ source, rolled }: HistoryEntry): readonly string[] {
  const all = rolled.map(shortKey);
  if (source === null) return all;
  const first = shortName(source);
  return [first, ...all.filter((name) => name !== first)];
}

const PODS: Readonly<Record<Reload['state'], string>> = {
  reloaded: 'Its pods are being replaced.',
  rolledOut: 'Its pods were replaced.',
  stuck: 'Its rollout is stuck.',
};

const VERBS: Readonly<Record<string, string>> = {
  created: 'created',
  deleted: 'deleted',
  missed: 'updated, as was found later',
};
