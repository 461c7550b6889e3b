import { parseLabelSelector } from '@reroll/core/label-selector';
import { describe, expect, it } from 'vitest';
import { parseListenAddress } from '../http/listen-address.ts';
import { APPS, camelCase } from './parsing/option.ts';
import { parseOptions } from './parsing/parse.ts';

/** Every flag of stakater/Reloader, a value that its users set, and its meaning here. */
const FLAGS: readonly (readonly [flag: string, given: string, value: unknown])[] = [
  ['--auto-reload-all', 'true', true],
  ['--configmap-annotation', 'example.com/a', 'example.com/a'],
  ['--secret-annotation', 'example.com/a', 'example.com/a'],
  ['--auto-annotation', 'example.com/a', 'example.com/a'],
  ['--ignore-annotation', 'example.com/a', 'example.com/a'],
  ['--configmap-auto-annotation', 'example.com/a', 'example.com/a'],
  ['--secret-auto-annotation', 'example.com/a', 'example.com/a'],
  ['--auto-search-annotation', 'example.com/a', 'example.com/a'],
  ['--search-match-annotation', 'example.com/a', 'example.com/a'],
  ['--pause-deployment-annotation', 'example.com/a', 'example.com/a'],
  ['--pause-deployment-time-annotation', 'example.com/a', 'example.com/a'],
  ['--log-format', '', 'text'],
  ['--log-level', 'warn', 'warning'],
  ['--webhook-url', 'https://h/x', 'https://h/x'],
  ['--resources-to-ignore', 'configMaps', ['configmaps']],
  ['--ignored-workload-types', 'jobs,cronjobs', ['jobs', 'cronjobs']],
  ['--namespaces', 'a,b', ['a', 'b']],
  ['--namespaces-to-ignore', 'a,b', ['a', 'b']],
  ['--namespace-selector', 'env:prod,team=*', parseLabelSelector('env=prod,team')],
  ['--resource-label-selector', 'env:*', parseLabelSelector('env')],
  ['--is-Argo-Rollouts', 'true', true],
  ['--reload-strategy', 'annotations', 'annotations'],
  ['--reload-on-create', 'true', true],
  ['--reload-on-delete', 'true', true],
  ['--enable-ha', 'true', true],
  ['--sync-after-restart', 'true', true],
  ['--enable-pprof', 'true', true],
  ['--pprof-addr', ':6061', parseListenAddress(':6061')],
  ['--enable-csi-integration', 'true', true],
];

describe.each(APPS)('the %s', (app) => {
  it.each(FLAGS)('takes %s=%s', (flag, given, value) => {
    const parsed = parseOptions(app, [`${flag}=${given}`], {});
    expect(parsed).toMatchObject({ ok: true });
    const options: Record<string, unknown> = parsed.ok ? parsed.options : {};
    const name = camelCase(flag);
    if (name in options) expect(options[name]).toEqual(value);
  });

  it('takes all of them at once, as a Deployment of the incumbent gives them', () => {
    const argv = FLAGS.map(([flag, given]) => `${flag}=${given}`);
    expect(parseOptions(app, argv, {})).toMatchObject({ ok: true });
  });

  it.each(['1', 't', 'T', 'TRUE', 'true', 'True', '0', 'f', 'F', 'FALSE', 'false', 'False'])(
    'takes any boolean for a flag that the incumbent compares with the text true: %s',
    (text) => {
      expect(parseOptions(app, [`--is-Argo-Rollouts=${text}`], {})).toMatchObject({ ok: true });
    },
  );
});

it('there are 29 of them', () => {
  expect(new Set(FLAGS.map(([flag]) => flag)).size).toBe(29);
});
