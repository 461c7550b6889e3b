import { LARGE_SINGLES, type Load, type Scenario } from '../scenarios.ts';

/** What a scenario does, with its numbers: `100 changes at once, 2,000 workloads in 10 namespaces`. */
export function titleOf(scenario: Scenario): string {
  const { workloads, namespaces } = scenario.load;
  const where = `${count(workloads, 'workload')} in ${count(namespaces, 'namespace')}`;
  const debounce = scenario.defaultDebounce === true ? ', default debounce' : '';
  const servers = scenario.controllerManager ? '' : ', controller-manager off';
  return `${deedOf(scenario)}, ${where}${debounce}${servers}`;
}

function deedOf({ method, load }: Scenario): string {
  if (method === 'secrets') return `memory with and without ${secretsText(load)}`;
  const changes = count(load.changes, 'change');
  if (method === 'single') return `${changes}, one at a time, idle in between`;
  if (method === 'large') return `${count(LARGE_SINGLES, 'change')} one at a time, then ${changes} at once`;
  return load.sharing === 1
    ? `${changes} at once`
    : `${changes} at once, ${load.sharing} workloads to a source`;
}

function secretsText({ secrets }: Load): string {
  return secrets === undefined
    ? 'no Secrets'
    : `${count(secrets.count, 'Secret')} of ${secrets.bytes / 1000} KB`;
}

function count(amount: number, noun: string): string {
  return `${amount.toLocaleString('en-US')} ${noun}${amount === 1 ? '' : 's'}`;
}
