import { expect, it } from 'vitest';
import { at } from './look.ts';
import { manifestsWith, type ChartValues, type Manifest } from './render.ts';

/** One of them has a key that the chart sets itself. Both in one map would be no YAML: `manifestsWith` refuses that. */
const labels = { team: 'a', 'app.kubernetes.io/name': 'other' };

async function find(values: ChartValues, kind: string, name: string): Promise<Manifest | undefined> {
  return (await manifestsWith(values)).find((each) => each.kind === kind && each.metadata.name === name);
}

it.each<[string, string, ChartValues]>([
  ['ServiceMonitor', 'reroll', { reloader: { serviceMonitor: { enabled: true, labels } } }],
  ['PodMonitor', 'reroll', { reloader: { podMonitor: { enabled: true, labels } } }],
  ['PrometheusRule', 'reroll', { prometheusRule: { enabled: true, labels } }],
  ['ConfigMap', 'reroll-dashboard', { grafanaDashboard: { enabled: true, labels } }],
  ['Service', 'reroll-watcher', { reloader: { service: { labels } } }],
  ['Service', 'reroll-admin', { admin: { service: { labels } } }],
])('%s %s has the labels of the values, and keeps those of the chart', async (kind, name, values) => {
  const found = await find(values, kind, name);
  expect(found?.metadata.labels).toMatchObject({ team: 'a', 'app.kubernetes.io/name': 'reroll' });
});

it.each([
  [{ team: 'a' }, ['critical', 'warning']],
  [{ team: 'a', severity: 'page' }, ['page']],
])(
  'the labels %j are added to those of every alert, and may replace its severity',
  async (added, severities) => {
    const values = { prometheusRule: { enabled: true, alertLabels: added } };
    const rules = at(await find(values, 'PrometheusRule', 'reroll'), 'spec.groups.0.rules') as readonly {
      readonly labels: Readonly<Record<string, string>>;
    }[];
    for (const rule of rules) expect(rule.labels).toMatchObject(added);
    expect([...new Set(rules.map((rule) => rule.labels['severity']))]).toEqual(severities);
  },
);

it('labels of all objects keep those of the chart, in selectors too', async () => {
  const ours = ['name', 'instance', 'component', 'version', 'part-of', 'managed-by'];
  const theirs = ours.map((key) => [`app.kubernetes.io/${key}`, 'other']);
  const matchLabels = { team: 'a', 'helm.sh/chart': 'other', ...Object.fromEntries(theirs) } as object;
  const values = { reloader: { matchLabels } };
  const manifests = await manifestsWith(values);
  expect(manifests).toEqual(await manifestsWith({ reloader: { matchLabels: { team: 'a' } } }));
});

it('annotations of the pod of Redis keep those of the chart', async () => {
  const values = { redis: { podAnnotations: { a: 'b', 'checksum/config': 'other' } } };
  const path = 'spec.template.metadata.annotations';
  const without = at(await find({}, 'StatefulSet', 'reroll-redis'), path) as object;
  expect(at(await find(values, 'StatefulSet', 'reroll-redis'), path)).toEqual({ ...without, a: 'b' });
});
