import { createLogger } from '@reroll/shared/platform/logging/logging';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { expect, it } from 'vitest';
import { warnOfScope } from './start-warnings.ts';

const EVERYWHERE = 'KUBERNETES_NAMESPACE is unset, will detect changes in all namespaces';
const ONLY_GLOBAL = 'is set but is only honored in global mode (watchGlobally=true); ignoring it.';

const NO_CLASSES =
  'info Skipping secretproviderclasspodstatuses controller: EnableCSIIntegration is disabled';

const CASES: readonly (readonly [flags: string, said: readonly string[]])[] = [
  ['', [`warning ${EVERYWHERE}.`]],
  ['--namespaces-to-ignore=a,b', [`warning ${EVERYWHERE} except: a, b.`]],
  [
    '--namespace-selector=env:prod,team:*',
    [
      `warning ${EVERYWHERE}.`,
      'warning namespace-selector is set, will only detect changes in namespaces with these labels: env=prod,team.',
    ],
  ],
  [
    '--resource-label-selector=tier=web --webhook-url=https://h/x',
    [
      `warning ${EVERYWHERE}.`,
      'warning resource-label-selector is set, will only detect changes on resources with these labels: tier=web.',
      'warning webhook-url is set, will only send webhook, no resources will be reloaded',
    ],
  ],
  ['--enable-csi-integration', [`warning ${EVERYWHERE}.`]],
  ['--namespaces=a,b', ['info Watching scoped namespaces: a, b']],
  [
    '--namespaces=a --namespaces-to-ignore=b --namespace-selector=env',
    [
      'info Watching scoped namespaces: a',
      `warning namespaces-to-ignore ${ONLY_GLOBAL}`,
      `warning namespace-selector ${ONLY_GLOBAL}`,
    ],
  ],
];

it.each(CASES)('what is watched is said at the start, as stakater/Reloader says it: %s', (flags, said) => {
  const parsed = parseOptions('watcher', flags === '' ? [] : flags.split(' '), {});
  if (!parsed.ok) throw new Error(parsed.errors.join());
  const lines: string[] = [];
  const log = createLogger({ format: 'json', level: 'trace', sink: { write: (line) => lines.push(line) } });
  warnOfScope(parsed.options, log);
  const read = lines.map((line) => JSON.parse(line) as { level: string; msg: string });
  expect(read.map(({ level, msg }) => `${level} ${msg}`)).toEqual(
    flags.includes('csi') ? said : [...said, NO_CLASSES],
  );
});
