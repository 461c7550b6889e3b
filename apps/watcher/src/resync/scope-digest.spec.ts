import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { expect, it } from 'vitest';
import { scopeDigest } from './scope-digest.ts';

function digestWith(...flags: readonly string[]): string {
  const parsed = parseOptions('watcher', flags, {});
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return scopeDigest(parsed.options);
}

it.each([
  '--namespaces=shop',
  '--namespaces-to-ignore=shop',
  '--namespace-selector=team=shop',
  '--resource-label-selector=team=shop',
  '--resources-to-ignore=secrets',
  '--ignored-workload-types=jobs',
  '--is-Argo-Rollouts=true',
  '--enable-csi-integration=true',
  '--auto-reload-all=true',
  '--auto-annotation=example.com/auto',
  '--adopt=wave',
])('differs with %s', (flag) => {
  expect(digestWith(flag)).not.toBe(digestWith());
});

it.each(['--log-level=debug', '--debounce=2s', '--discovery-interval=1h', '--reload-strategy=annotations'])(
  'is the same with %s',
  (flag) => {
    expect(digestWith(flag)).toBe(digestWith());
  },
);

it('does not depend on the order of the flags', () => {
  const flags = ['--namespaces=shop', '--auto-reload-all=true'];
  expect(digestWith(...flags)).toBe(digestWith(...flags.toReversed()));
});
