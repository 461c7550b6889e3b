/** Rules between options. A rule does not apply if one of its options could not be read. */
import { formatDuration } from '@reroll/core/durations';
import { REDIS_RULES } from './redis-rules.ts';
import type { AdminOptions, WatcherOptions, WorkerOptions } from '../parsing/table.ts';

/** The jitter of retries, as in client-go. */
const RETRY_JITTER = 1.2;

type Options = Partial<WatcherOptions & WorkerOptions & AdminOptions>;
type Rule = (options: Options) => string | undefined;

const leaderStepsDownBeforeOthersTakeOver: Rule = ({ leaseDuration, leaseRenewDeadline }) =>
  leaseDuration === undefined || leaseRenewDeadline === undefined || leaseDuration > leaseRenewDeadline
    ? undefined
    : `--lease-duration: expected more than --lease-renew-deadline (${formatDuration(leaseRenewDeadline)}); ` +
      `given ${formatDuration(leaseDuration)}`;

/** `leaseDurationSeconds` of a Lease is an integer. */
const leaseHasWholeSeconds: Rule = ({ leaseDuration }) =>
  leaseDuration === undefined || leaseDuration % 1_000 === 0
    ? undefined
    : `--lease-duration: expected whole seconds; given ${formatDuration(leaseDuration)}`;

const leaderTriesMoreThanOnce: Rule = ({ leaseRenewDeadline, leaseRetryPeriod }) =>
  leaseRenewDeadline === undefined ||
  leaseRetryPeriod === undefined ||
  leaseRenewDeadline > RETRY_JITTER * leaseRetryPeriod
    ? undefined
    : `--lease-renew-deadline: expected more than ${RETRY_JITTER} times --lease-retry-period ` +
      `(${formatDuration(leaseRetryPeriod)}); given ${formatDuration(leaseRenewDeadline)}`;

const alertsHaveAReceiver: Rule = (options) =>
  options.alertOnReload === true && 'alertWebhookUrl' in options && options.alertWebhookUrl === undefined
    ? '--alert-webhook-url: expected a URL, because alerts are on; given none (ALERT_WEBHOOK_URL)'
    : undefined;

/** Applies to different hosts too, because one of them may mean every interface. */
const profilesHaveTheirOwnPort: Rule = ({ enablePprof, pprofAddr, metricsAddr }) =>
  enablePprof === true && pprofAddr && pprofAddr.port !== 0 && pprofAddr.port === metricsAddr?.port
    ? `--pprof-addr: expected another port than that of --metrics-addr; given ${pprofAddr.port}`
    : undefined;

const certificateHasAKey: Rule = ({ apiTlsCertFile: cert, apiTlsKeyFile: key }) => {
  if ((cert === undefined) === (key === undefined)) return undefined;
  const found = key === undefined ? '--api-tls-cert-file' : '--api-tls-key-file';
  return `--api-tls-cert-file: expected it with --api-tls-key-file; given only ${found}`;
};

const staticTokensHaveAFile: Rule = ({ auth, staticTokensFile, anonymous }) => {
  if (auth === 'kubernetes' && staticTokensFile !== undefined)
    return '--static-tokens-file: expected --auth=static beside it; given --auth=kubernetes';
  return auth === 'static' && staticTokensFile === undefined && anonymous === 'none'
    ? '--static-tokens-file: expected a file, because of --auth=static; given none'
    : undefined;
};

const apiHasItsOwnPort: Rule = ({ apiAddr, metricsAddr }) =>
  apiAddr && apiAddr.port !== 0 && apiAddr.port === metricsAddr?.port
    ? `--api-addr: expected another port than that of --metrics-addr; given ${apiAddr.port}`
    : undefined;

const RULES: readonly Rule[] = [
  leaderStepsDownBeforeOthersTakeOver,
  leaseHasWholeSeconds,
  leaderTriesMoreThanOnce,
  alertsHaveAReceiver,
  profilesHaveTheirOwnPort,
  certificateHasAKey,
  staticTokensHaveAFile,
  apiHasItsOwnPort,
  ...REDIS_RULES,
];

/** The rules that these options break, in words. */
export function brokenRules(options: Options): string[] {
  return RULES.map((rule) => rule(options)).filter((broken) => broken !== undefined);
}
