import { expect, it } from 'vitest';
import { at, workload } from './look.ts';
import { manifestsWith, renderChart, type ChartValues } from './render.ts';
import { difference } from './testing/facts.ts';
import { DEFAULTS } from './testing/incumbent-keys.ts';

it('a copy of its values.yaml installs: one watcher, its labels and its user, and nothing else that differs', async () => {
  const changes = difference(await manifestsWith(), await manifestsWith(DEFAULTS));
  const other = changes.filter(
    (line) => !/metadata\.labels\.(provider|group|version)=|runAsUser=/u.test(line),
  );
  expect(other).toEqual([
    '- Deployment reroll-watcher spec.replicas=2',
    '+ Deployment reroll-watcher spec.replicas=1',
  ]);
});

it('notes say that one watcher has no standby, and only then', async () => {
  const notes = async (values: ChartValues): Promise<string> => {
    const result = await renderChart(values);
    return result.ok ? result.notes : result.error;
  };
  const text = 'There is one watcher and no standby';
  expect(await notes(DEFAULTS)).toContain(text);
  expect(await notes({})).not.toContain(text);
  expect(await notes({ mode: 'standalone' })).not.toContain(text);
});

it.each([
  ['64Mi', '128Mi', '256Mi'],
  ['100000k', '128Mi', '256Mi'],
  ['0.1Gi', '128Mi', '256Mi'],
  ['134217728', '134217728', '256Mi'],
  ['256Mi', '256Mi', '256Mi'],
  ['1G', '1G', '1G'],
])(
  'a memory limit of %s is one of %s, in one process of %s, and notes say so',
  async (memory, limit, one) => {
    const reloader = { deployment: { resources: { requests: { cpu: '10m' }, limits: { cpu: 1, memory } } } };
    for (const [mode, component, expected] of [
      ['distributed', 'watcher', limit],
      ['distributed', 'worker', limit],
      ['standalone', 'standalone', one],
    ] as const) {
      const result = await renderChart({ mode, reloader });
      if (!result.ok) throw new Error(result.error);
      expect(at(workload(result.manifests, component).container, 'resources')).toEqual({
        requests: { cpu: '10m' },
        limits: { cpu: 1, memory: expected },
      });
      const note = `limits memory to ${memory}, which is too small for ${component}: the limit is ${expected}.`;
      expect(result.notes.includes(note)).toBe(expected !== memory);
    }
  },
);

it('the Services of metrics have the addresses that they are given', async () => {
  const service = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] };
  const manifests = await manifestsWith({ reloader: { service } });
  const services = manifests.filter(
    ({ kind, metadata }) => kind === 'Service' && /-(watcher|worker)$/u.test(metadata.name),
  );
  expect(services.map((each) => at(each, 'spec.ipFamilies'))).toEqual([
    service.ipFamilies,
    service.ipFamilies,
  ]);
  expect(services.map((each) => at(each, 'spec.ipFamilyPolicy'))).toEqual([
    'PreferDualStack',
    'PreferDualStack',
  ]);
});

it('refuses other addresses, and says which there are', async () => {
  const result = await renderChart({ reloader: { service: { ipFamilies: ['IPv5'] } } });
  expect(result.ok ? '' : result.error).toContain("value must be one of 'IPv4', 'IPv6'");
});

it('its log level warn is that of the processes', async () => {
  expect(workload(await manifestsWith({ reloader: { logLevel: 'warn' } }), 'worker').args).toContain(
    '--log-level=warn',
  );
});
