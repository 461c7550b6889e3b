import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../cluster/src/run.ts';
import { manifestsWith } from '../render.ts';
import { ensurePromtool } from './promtool.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

/** `name{labels}` and its values, one a minute, in promtool's notation. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly alert: string;
  /** It fires for these, 20 minutes in, with these labels and this summary. */
  readonly on: Series;
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  /** And not for these. */
  readonly notOn: Readonly<Record<string, Series>>;
}

const NS = 'namespace="reroll"';
const IN_SHOP = 'pod="reroll-watcher-a",workload_namespace="shop"';
const URL = 'https://example.com/hook';
const TLS = 'secret_namespace="shop",secret="tls"';
const POD = 'pod="reroll-watcher-a"';
const GREEN = 'pod="green-reroll-watcher-a"';
const of = (metric: string, labels = POD): string =>
  `${metric}{${NS},${labels.includes('pod=') ? labels : `${POD},${labels}`}}`;
const ELSEWHERE = (metric: string, values: string): Series => ({
  [`${metric}{namespace="other",pod="reroll-watcher-a"}`]: values,
});

/** They fire for what is not there, whatever there is of another release. */
const ABSENCES: ReadonlySet<string> = new Set(['RerollNoLeader', 'RerollNoWorker', 'RerollAdminDown']);

const CASES: readonly Case[] = [
  {
    alert: 'RerollNoLeader',
    on: {
      [of('reroll_leader', GREEN)]: '1x30',
      [of('reroll_leader')]: '1x10 0x20',
      [of('reroll_leader', 'pod="reroll-watcher-b"')]: '0x30',
    },
    summary: 'No watcher leads: changes are not seen.',
    notOn: {
      'a failover in which nobody leads for a minute': {
        [of('reroll_leader')]: '1x18 0x20',
        [of('reroll_leader', 'pod="reroll-watcher-b"')]: '0x19 1x20',
      },
    },
  },
  {
    alert: 'RerollNoLeader',
    on: { [of('reroll_leader', GREEN)]: '1x30', [of('reroll_leader')]: '1x10' },
    summary: 'No watcher leads: changes are not seen.',
    notOn: { 'a restart': { [of('reroll_leader')]: '1x17 _x2 1x20' } },
  },
  {
    alert: 'RerollNoWorker',
    on: { [of('reroll_jobs_total', GREEN)]: '1+1x30', [of('reroll_jobs_total')]: '1x5' },
    summary: 'No worker has reported metrics for 5 minutes: nothing is reloaded.',
    notOn: {
      'one worker of two': {
        [of('reroll_jobs_total')]: '1x5',
        [of('reroll_jobs_total', 'pod="reroll-watcher-b"')]: '1x30',
      },
    },
  },
  {
    alert: 'RerollAdminDown',
    on: { [of('reroll_api_requests_total', GREEN)]: '1+1x30', [of('reroll_api_requests_total')]: '1x5' },
    summary: 'No admin has reported metrics for 5 minutes: API and dashboard are down. Reloads continue.',
    notOn: {
      'a restart': { [of('reroll_api_requests_total')]: '1x17 _x2 1x20' },
      'an admin that nobody asks': { [of('reroll_api_requests_total')]: '0x30' },
    },
  },
  {
    alert: 'RerollAdminFails',
    on: {
      [of('reroll_api_requests_total', 'code="5xx"')]: '0+6x30',
      [of('reroll_api_requests_total', 'code="2xx"')]: '0+60x30',
    },
    summary: 'More than 5% of API requests fail.',
    notOn: {
      'one in a hundred': {
        [of('reroll_api_requests_total', 'code="5xx"')]: '0+1x30',
        [of('reroll_api_requests_total', 'code="2xx"')]: '0+99x30',
      },
      'requests that are refused': { [of('reroll_api_requests_total', 'code="4xx"')]: '0+60x30' },
      'an admin that nobody asks': { [of('reroll_api_requests_total', 'code="5xx"')]: '3x30' },
    },
  },
  {
    alert: 'RerollRedisDown',
    on: { [of('reroll_redis_up')]: '1x10 0x20', [of('reroll_redis_up', 'pod="reroll-watcher-b"')]: '1x30' },
    labels: { pod: 'reroll-watcher-a' },
    summary: 'reroll-watcher-a is not connected to Redis, or cannot write to it.',
    notOn: {
      'a restart of Redis': { [of('reroll_redis_up')]: '1x18 0 1x10' },
      'another install': ELSEWHERE('reroll_redis_up', '0x30'),
    },
  },
  {
    alert: 'RerollRedisFull',
    on: {
      [of('reroll_redis_full')]: '0x10 1x20',
      [of('reroll_redis_full', 'pod="reroll-watcher-b"')]: '0x30',
    },
    summary:
      'Redis is full: the history is dropped and not written. Reloads continue as long as Redis accepts jobs.',
    notOn: { 'a Redis with room': { [of('reroll_redis_full')]: '0x30' } },
  },
  {
    alert: 'RerollNotSynced',
    on: { [of('reroll_synced')]: '0x30' },
    labels: { pod: 'reroll-watcher-a' },
    summary: 'reroll-watcher-a has not yet listed all objects that it watches.',
    notOn: { 'a slow start': { [of('reroll_synced')]: '0x5 1x30' } },
  },
  {
    alert: 'RerollEventLoopHeldUp',
    on: { [of('nodejs_eventloop_lag_max_seconds')]: '2x30' },
    labels: { pod: 'reroll-watcher-a' },
    summary: 'The event loop of reroll-watcher-a was blocked for 2s.',
    notOn: { 'one long turn': { [of('nodejs_eventloop_lag_max_seconds')]: '0.02x5 2 0.02x24' } },
  },
  {
    alert: 'RerollOwedTooLong',
    on: {
      [of('reroll_namespace_oldest_owed_seconds', IN_SHOP)]: '0+60x30',
      [of('reroll_namespace_oldest_owed_seconds', 'pod="reroll-watcher-a",workload_namespace="other"')]:
        '0+10x30',
      [of('reroll_leader')]: '1x30',
    },
    labels: { workload_namespace: 'shop' },
    summary:
      'A workload in the namespace shop has been pending for 20m 0s: its pods have older data than its ConfigMaps and Secrets.',
    notOn: {
      'a workload that is pending for ten minutes': {
        [of('reroll_namespace_oldest_owed_seconds', IN_SHOP)]: '0+30x30',
        [of('reroll_leader')]: '1x30',
      },
      'a workload that only a standby takes for pending': {
        [of('reroll_namespace_oldest_owed_seconds', IN_SHOP)]: '0+60x30',
        [of('reroll_leader')]: '0x30',
        [of('reroll_leader', 'pod="reroll-watcher-b"')]: '1x30',
      },
    },
  },
  {
    alert: 'RerollStaleWorkloads',
    on: {
      [of('reroll_oldest_stale_rollout_seconds')]: '1200+60x30',
      [of('reroll_oldest_stale_rollout_seconds', 'pod="reroll-watcher-b"')]: '0x30',
    },
    summary: 'A rollout with newer data has been incomplete for 40m 0s.',
    notOn: {
      'rollouts that follow one another': {
        [of('reroll_oldest_stale_rollout_seconds')]: '0+60x10 0+60x20',
        [of('reroll_stale_workloads')]: '1x30',
      },
      'workloads that are held': {
        [of('reroll_oldest_stale_rollout_seconds')]: '0x30',
        [of('reroll_stale_workloads')]: '2x30',
      },
    },
  },
  {
    alert: 'RerollCertificateExpiresSoon',
    // At 20 minutes, with three hours left.
    on: {
      [of('reroll_certificate_expiry_timestamp_seconds', `pod="reroll-watcher-a",${TLS}`)]: '12000x30',
      [of('reroll_certificate_expiry_timestamp_seconds', `pod="reroll-watcher-b",${TLS}`)]: '9000000x30',
    },
    labels: { secret_namespace: 'shop', secret: 'tls' },
    summary: 'Pods run with a certificate of the Secret shop/tls that expires in 3h 0m 0s.',
    notOn: {
      'one that is valid for eight days': {
        [of('reroll_certificate_expiry_timestamp_seconds', `pod="reroll-watcher-a",${TLS}`)]:
          `${8 * 86_400}x30`,
      },
      'one that was replaced, and the pods with it': {
        [of('reroll_certificate_expiry_timestamp_seconds', `pod="reroll-watcher-a",${TLS}`)]:
          '12000x17 9000000x20',
      },
    },
  },
  {
    alert: 'RerollQueueTooOld',
    on: { [of('reroll_queue_oldest_seconds', 'queue="reloads"')]: '0+60x30' },
    labels: { queue: 'reloads' },
    summary: 'A job in the queue reloads has waited for a worker for 20m 0s.',
    notOn: {
      'a queue that is worked off': {
        [of('reroll_queue_oldest_seconds', 'queue="reloads"')]: '0 200 250 0x30',
      },
      'notifications that are left without a receiver': {
        [of('reroll_queue_oldest_seconds', 'queue="notifications"')]: '0+60x30',
      },
    },
  },
  {
    alert: 'RerollReloadsFail',
    // At 20 minutes, one minute and 19 minutes ago.
    on: {
      [of('reroll_namespace_last_failed_reload_timestamp_seconds', IN_SHOP)]: '_x10 60x8 1140x10',
      [of(
        'reroll_namespace_last_failed_reload_timestamp_seconds',
        'pod="reroll-watcher-b",workload_namespace="shop"',
      )]: '60x30',
      [of(
        'reroll_namespace_last_failed_reload_timestamp_seconds',
        'pod="reroll-watcher-a",workload_namespace="other"',
      )]: '60x30',
    },
    labels: { workload_namespace: 'shop' },
    summary:
      'Reloads in the namespace shop failed after all attempts in the last 15 minutes. The resync enqueues them again.',
    notOn: {
      'one that failed 16 minutes ago': {
        [of('reroll_namespace_last_failed_reload_timestamp_seconds', IN_SHOP)]: '240x30',
      },
    },
  },
  {
    alert: 'RerollJobsFail',
    on: {
      [of('reroll_jobs_total', 'pod="reroll-watcher-a",queue="changes",result="failed"')]: '0x10 1x20',
      [of('reroll_jobs_total', 'pod="reroll-watcher-b",queue="resumes",result="failed"')]: '1x30',
    },
    labels: { queue: 'changes' },
    summary:
      'Jobs of the queue changes failed after all attempts, or could not be read, in the last 15 minutes. The resync enqueues what is still pending.',
    notOn: {
      'jobs whose failures have alerts of their own, or that are tried again': {
        [of('reroll_jobs_total', 'queue="reloads",result="failed"')]: '0x10 1x20',
        [of('reroll_jobs_total', 'queue="notifications",result="failed"')]: '0x10 1x20',
        [of('reroll_jobs_total', 'queue="changes",result="retry"')]: '0+1x30',
      },
    },
  },
  {
    alert: 'RerollJobsFail',
    on: { [of('reroll_jobs_total', 'pod="reroll-watcher-a",queue="reloads",result="invalid"')]: '0x10 1x20' },
    labels: { queue: 'reloads' },
    summary:
      'Jobs of the queue reloads failed after all attempts, or could not be read, in the last 15 minutes. The resync enqueues what is still pending.',
    notOn: {
      'one of long ago': { [of('reroll_jobs_total', 'queue="reloads",result="invalid"')]: '0 1x30' },
    },
  },
  {
    alert: 'RerollWaveHalted',
    on: { [of('reroll_outcomes_total', 'reason="WaveHalted"')]: '0x10 3x20' },
    summary: 'A change was halted in the last hour because a workload that has it failed to roll out.',
    notOn: {
      'workloads that wait for their wave': {
        [of('reroll_outcomes_total', 'reason="AwaitsWave"')]: '0+3x30',
        [of('reroll_outcomes_total', 'reason="WaveHalted"')]: '3x30',
      },
    },
  },
  {
    alert: 'RerollContested',
    on: {
      [of('reroll_namespace_contested_workloads', IN_SHOP)]: '_x10 2x20',
    },
    labels: { workload_namespace: 'shop' },
    summary:
      '2 workloads in the namespace shop are no longer reloaded because another controller keeps removing their marker.',
    notOn: {
      'one that was released': { [of('reroll_namespace_contested_workloads', IN_SHOP)]: '2x10 _x20' },
    },
  },
  {
    alert: 'RerollNotificationsFail',
    on: { [of('reroll_notifications_total', 'type="alert",result="failed"')]: '0x10 1x20' },
    labels: { type: 'alert' },
    summary: 'Notifications of type alert were not delivered in the last hour.',
    notOn: {
      'those that are tried again': {
        [of('reroll_notifications_total', 'type="alert",result="retry"')]: '0+1x30',
      },
    },
  },
];

let promtool: string;
interface Groups {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

/** The PrometheusRule of the chart. */
async function groupsWith(values: object): Promise<Groups> {
  const manifests = await manifestsWith({ ...values, prometheusRule: { enabled: true } });
  const { spec } = manifests.find(({ kind }) => kind === 'PrometheusRule') as unknown as { spec: Groups };
  return spec;
}

let rules: readonly Rule[];
let folder: string;

beforeAll(async () => {
  promtool = await ensurePromtool();
  folder = mkdtempSync(join(tmpdir(), 'reroll-alerts-'));
  const spec = await groupsWith({});
  rules = spec.groups.flatMap((group) => group.rules);
  writeFileSync(join(folder, 'rules.yaml'), stringify(spec));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What promtool has to find 20 minutes in: the alert that fires, or nothing. */
function testOf(
  name: string,
  series: Series,
  expected: { alert: string; alerts: readonly unknown[] },
): object {
  return {
    name,
    interval: '1m',
    input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
    alert_rule_test: [{ eval_time: '20m', alertname: expected.alert, exp_alerts: expected.alerts }],
  };
}

it('each alert fires for its case, and for none of those beside it', async () => {
  const tests = CASES.flatMap(({ alert, on, labels = {}, summary, notOn }) => {
    const rule = rules.find((each) => each.alert === alert);
    const fired = {
      exp_labels: { severity: rule?.labels.severity, namespace: 'reroll', ...labels },
      exp_annotations: { summary, runbook_url: rule?.annotations.runbook_url },
    };
    // Another release in the namespace, whose name ends like this one's.
    const green = Object.entries(on).map(([series, values]) => [
      series.replace(/pod="/gu, 'pod="green-'),
      values,
    ]);
    const isOfOthers = ABSENCES.has(alert) ? [] : [['another release', Object.fromEntries(green)] as const];
    const others = [...isOfOthers, ...Object.entries(notOn)].map(([what, series]) =>
      testOf(`${alert}: ${what}`, series, { alert, alerts: [] }),
    );
    return [testOf(`${alert} fires`, on, { alert, alerts: [fired] }), ...others];
  });
  const file = join(folder, 'tests.yaml');
  writeFileSync(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
  const { code, tail } = await run(promtool, ['test', 'rules', file]);
  expect(code, tail).toBe(0);
});

it.each([{ dryRun: true }, { webhookUrl: URL }])(
  'with %o, nothing is reloaded, and no alert says that a workload waits for it',
  async (reloader) => {
    const { groups } = await groupsWith({ reloader });
    const alerts = groups.flatMap((group) => group.rules.map(({ alert }) => alert));
    expect(alerts).toEqual(rules.map(({ alert }) => alert).filter((alert) => alert !== 'RerollOwedTooLong'));
  },
);

const ENV = { ALERT_ON_RELOAD: 'true', ALERT_WEBHOOK_URL: URL };

it('with a webhook that is taken out, the age of notifications does not count', async () => {
  const { groups } = await groupsWith({ reloader: { webhookUrl: null } });
  expect(JSON.stringify(groups)).toContain('queue!=\\\"notifications\\\"');
});

it.each([
  { alerts: { onReload: true, webhookUrl: URL } },
  { webhookUrl: URL },
  { deployment: { env: { open: ENV } } },
  { deployment: { env: { secret: ENV } } },
  { deployment: { env: { existing: { mine: { ALERT_ON_RELOAD: 'on', ALERT_WEBHOOK_URL: 'url' } } } } },
])('with %o, the age of notifications counts, too', async (reloader) => {
  const { groups } = await groupsWith({ reloader });
  const [rule] = groups.flatMap((group) => group.rules.filter(({ alert }) => alert === 'RerollQueueTooOld'));
  expect(rule?.expr).toContain('reroll_queue_oldest_seconds{');
  expect(rule?.expr).not.toContain('notifications');
});

describe('every alert', () => {
  it('has a case here', () => {
    expect(rules.map(({ alert }) => alert)).toEqual([...new Set(CASES.map(({ alert }) => alert))]);
  });

  it('has a section in the runbook, and its URL leads there', () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8');
    const sections = [...runbook.matchAll(/^## (\w+)$/gmu)].map(([, name = '']) => name);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations } of rules)
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/runbook\\.md#${alert.toLowerCase()}$`, 'u'));
  });
});
