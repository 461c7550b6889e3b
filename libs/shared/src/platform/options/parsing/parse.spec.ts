import { describe, expect, it } from 'vitest';
import type { App } from './option.ts';
import { parseOptions } from './parse.ts';
import type { Environment } from './parse.ts';
import type { WatcherOptions, WorkerOptions } from './table.ts';
import { labelSelectorText } from '@reroll/core/label-selector';

const SECRET = 'hunter2-s3cr3t';

type AnyOptions = Partial<WatcherOptions & WorkerOptions>;

interface Given {
  readonly app?: App;
  readonly env?: Environment;
}

function optionsOf(argv: readonly string[], { app = 'worker', env = {} }: Given = {}): AnyOptions {
  const parsed = parseOptions(app, argv, env);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.options;
}

function errorsOf(argv: readonly string[], { app = 'worker', env = {} }: Given = {}): readonly string[] {
  const parsed = parseOptions(app, argv, env);
  return parsed.ok ? [] : parsed.errors;
}

describe('a command line', () => {
  it.each<[string, readonly string[], AnyOptions]>([
    ['gives a value after a blank', ['--debounce', '2s'], { debounce: 2_000 }],
    ['gives a value after an equals sign', ['--debounce=2s'], { debounce: 2_000 }],
    [
      'takes what follows as the value, dashes or not',
      ['--pod-name', '--dry-run'],
      { podName: '--dry-run', dryRun: false },
    ],
    ['lets the last of a repeated flag win', ['--debounce=1s', '--debounce=2s'], { debounce: 2_000 }],
    ['keeps equals signs in a value', ['--pod-name=a=b'], { podName: 'a=b' }],
    ['switches a bool on without a value', ['--auto-reload-all'], { autoReloadAll: true }],
    ['splits a list at commas', ['--namespaces=a,b'], { namespaces: ['a', 'b'] }],
    [
      'adds up the values of a list',
      ['--namespaces=a', '--namespaces', 'b,c'],
      { namespaces: ['a', 'b', 'c'] },
    ],
    ['reads quotes in a list as CSV', ['--namespaces="a","b"'], { namespaces: ['a', 'b'] }],
    ['trims a list and drops repetitions', ['--namespaces=a, b,a'], { namespaces: ['a', 'b'] }],
    ['replaces a default list', ['--secret-types-to-ignore=x/y'], { secretTypesToIgnore: ['x/y'] }],
    ['empties a default list', ['--secret-types-to-ignore='], { secretTypesToIgnore: [] }],
    [
      'reads the ignored resource in any case',
      ['--resources-to-ignore=Secrets'],
      { resourcesToIgnore: ['secrets'] },
    ],
    [
      'reads both ignored workload types',
      ['--ignored-workload-types=jobs,cronjobs'],
      { ignoredWorkloadTypes: ['jobs', 'cronjobs'] },
    ],
    ['reads the level in any case', ['--log-level=WARN'], { logLevel: 'warning' }],
    ['reads the empty log format as text', ['--log-format='], { logFormat: 'text' }],
    ['reads JSON as the log format', ['--log-format=json'], { logFormat: 'json' }],
    ['accepts an empty annotation key', ['--ignore-annotation='], { ignoreAnnotation: '' }],
    ['accepts a key without a prefix', ['--auto-annotation=auto'], { autoAnnotation: 'auto' }],
    ['reads an address', ['--metrics-addr=[::1]:0'], { metricsAddr: { host: '::1', port: 0 } }],
    ['reads no debounce as 0', ['--debounce=0'], { debounce: 0 }],
    ['accepts --enable-ha', ['--enable-ha=true'], { enableHa: true }],
    ['reads a key file', ['--hash-key-file=/keys'], { hashKeyFile: '/keys' }],
    ['reads the other strategy', ['--reload-strategy', 'annotations'], { reloadStrategy: 'annotations' }],
  ])('%s', (_sentence, argv, expected) => {
    expect(optionsOf(argv)).toMatchObject(expected);
  });

  it.each(['1', 't', 'T', 'TRUE', 'true', 'True'])('reads %s as true, as Go does', (text) => {
    expect(optionsOf([`--dry-run=${text}`]).dryRun).toBe(true);
  });
  it.each(['0', 'f', 'F', 'FALSE', 'false', 'False'])('reads %s as false, as Go does', (text) => {
    expect(optionsOf([`--dry-run=${text}`]).dryRun).toBe(false);
  });
});

describe('an environment variable', () => {
  it('is used without a flag', () => {
    expect(optionsOf([], { env: { REROLL_DEBOUNCE: '3s', REROLL_DRY_RUN: 'T' } })).toMatchObject({
      debounce: 3_000,
      dryRun: true,
    });
  });
  it.each(['watcher', 'worker'] as const)(
    'KUBERNETES_NAMESPACE alone is what the %s is limited to',
    (app) => {
      expect(optionsOf([], { app, env: { KUBERNETES_NAMESPACE: 'b' } }).namespaces).toEqual(['b']);
    },
  );
  it('gives way to a flag', () => {
    expect(optionsOf(['--namespaces=a'], { env: { KUBERNETES_NAMESPACE: 'b' } }).namespaces).toEqual(['a']);
  });
  it('counts as unset when empty', () => {
    expect(optionsOf([], { env: { KUBERNETES_NAMESPACE: '', REROLL_DEBOUNCE: '' } })).toMatchObject({
      namespaces: [],
      debounce: 500,
    });
  });
  it('is named where its value is wrong', () => {
    expect(errorsOf([], { env: { REROLL_ATTEMPTS: '0' } })).toEqual([
      '--attempts: expected a whole number from 1 to 100; given "0" (from REROLL_ATTEMPTS)',
    ]);
  });
  it('of the other app is not looked at', () => {
    expect(errorsOf([], { app: 'watcher', env: { REROLL_CONCURRENCY: 'x' } })).toEqual([]);
  });
});

describe('a wrong command line', () => {
  it.each<[string, readonly string[], string]>([
    [
      'a bad duration',
      ['--debounce=5'],
      '--debounce: expected a duration such as 500ms, 1h30m or 7d, from 0 to 24d; given "5"',
    ],
    [
      'a negative duration',
      ['--debounce=-5s'],
      '--debounce: expected a duration such as 500ms, 1h30m or 7d, from 0 to 24d; given "-5s"',
    ],
    ['a bad bool', ['--dry-run=yes'], '--dry-run: expected true or false; given "yes"'],
    [
      'a bad word',
      ['--reload-strategy=x'],
      '--reload-strategy: expected one of: env-vars, annotations; given "x"',
    ],
    [
      'a bad number',
      ['--concurrency=1.5'],
      '--concurrency: expected a whole number from 1 to 1000; given "1.5"',
    ],
    [
      'both resources',
      ['--resources-to-ignore=secrets,configmaps'],
      `--resources-to-ignore: expected 'configmaps' or 'secrets', not both; given "secrets,configmaps"`,
    ],
    [
      'a bad resource',
      ['--resources-to-ignore=pods'],
      `--resources-to-ignore: expected 'configmaps' or 'secrets', not both; given "pods"`,
    ],
    [
      'workload types in other letters',
      ['--ignored-workload-types=Jobs'],
      `--ignored-workload-types: expected 'jobs' or 'cronjobs' or both, separated by a comma; given "Jobs"`,
    ],
    [
      'an empty namespace',
      ['--namespaces=a,'],
      '--namespaces: expected names of namespaces, separated by commas; given "a,"',
    ],
    [
      'quotes that do not add up',
      ['--namespaces="a'],
      String.raw`--namespaces: expected names of namespaces, separated by commas; given "\"a"`,
    ],
    [
      'a bad annotation key',
      ['--auto-annotation=a b'],
      '--auto-annotation: expected the key of an annotation such as example.com/reload, or nothing to switch it off; given "a b"',
    ],
    [
      'an empty key of an annotation that is written',
      ['--pause-deployment-time-annotation='],
      '--pause-deployment-time-annotation: expected the key of an annotation such as example.com/reload; given ""',
    ],
    [
      'an empty key of the marker',
      ['--last-reloaded-from-annotation='],
      '--last-reloaded-from-annotation: expected the key of an annotation such as example.com/reload; given ""',
    ],
    [
      'a bad address',
      ['--metrics-addr=9090'],
      '--metrics-addr: expected an address such as :9090, 127.0.0.1:9090 or [::1]:9090; given "9090"',
    ],
    [
      'a bad level',
      ['--log-level=loud'],
      '--log-level: expected one of: trace, debug, info, warning, error, fatal, panic; given "loud"',
    ],
    ['a bad format', ['--log-format=JSON'], '--log-format: expected text or json; given "JSON"'],
    ['a flag without its value', ['--debounce'], '--debounce: expected a value, given none'],
    [
      'an unknown flag',
      ['--debunce=1s'],
      '--debunce: expected one of the flags that --help lists, given an unknown one',
    ],
    [
      'a flag in other letters',
      ['--Debounce=1s'],
      '--Debounce: expected one of the flags that --help lists, given an unknown one',
    ],
    [
      'a flag with one dash',
      ['-debounce=1s'],
      '-debounce: expected one of the flags that --help lists, given an unknown one',
    ],
    [
      'a negated flag',
      ['--no-dry-run'],
      '--no-dry-run: expected one of the flags that --help lists, given an unknown one',
    ],
    ['an argument', ['start'], 'expected flags only, given the argument "start"'],
    ['an argument after --', ['--', 'start'], 'expected flags only, given the argument "start"'],
    [
      'the value of a bool after a blank',
      ['--dry-run', 'false'],
      '--dry-run: expected its value after an equals sign, --dry-run=false; given a blank',
    ],
    [
      'a flag of the other app',
      ['--sweep-interval=1m'],
      '--sweep-interval: expected a flag of the worker; given one of the watcher only',
    ],
  ])('with %s is told so', (_sentence, argv, error) => {
    expect(errorsOf(argv)).toEqual([error]);
  });

  it('has all of it reported at once', () => {
    const argv = [
      '--debounce=x',
      '--nope',
      '--attempts=0',
      'start',
      '--namespace-selector=a b',
      '--lease-duration=1s',
    ];
    const errors = errorsOf(argv, { app: 'watcher', env: { REROLL_BACKOFF: 'y' } });
    expect(errors.map((error) => error.split(':')[0])).toEqual([
      '--nope',
      'expected flags only, given the argument "start"',
      '--namespace-selector',
      '--debounce',
      '--attempts',
      '--backoff',
      '--lease-duration',
    ]);
  });

  it.each<[string, readonly string[], string]>([
    [
      'the duration is not more than the deadline',
      ['--lease-duration=10s'],
      '--lease-duration: expected more than --lease-renew-deadline (10s); given 10s',
    ],
    [
      'the duration is not in whole seconds, as a Lease has it',
      ['--lease-duration=15500ms'],
      '--lease-duration: expected whole seconds; given 15s500ms',
    ],
    [
      'the deadline is not more than 1.2 retries',
      ['--lease-retry-period=9s'],
      '--lease-renew-deadline: expected more than 1.2 times --lease-retry-period (9s); given 10s',
    ],
    [
      'profiles would be at the port of the metrics',
      ['--enable-pprof', '--pprof-addr=127.0.0.1:9090'],
      '--pprof-addr: expected another port than that of --metrics-addr; given 9090',
    ],
  ])('is told that %s', (_sentence, argv, error) => {
    expect(errorsOf(argv, { app: 'watcher' })).toEqual([error]);
  });
});

describe('a flag of the incumbent', () => {
  it.each(['watcher', 'worker'] as const)('is accepted by the %s with the same values', (app) => {
    const argv = ['--reload-on-create', 'True', '--reload-on-delete=true', '--sync-after-restart'];
    const options = optionsOf(argv, { app });
    expect(options).toMatchObject({ reloadOnCreate: true, reloadOnDelete: true, syncAfterRestart: true });
  });

  it.each([
    ['--resource-label-selector=env=*,a=b', 'env,a=b'],
    ['--resource-label-selector="env=*,a:b"', 'env,a=b'],
    ['--resource-label-selector=env in (a,b)', 'env in (a,b)'],
    ['--resource-label-selector=', undefined],
  ])('that is a selector is read in every spelling: %s', (flag, expected) => {
    const { resourceLabelSelector: selector } = optionsOf([flag]);
    expect(selector && labelSelectorText(selector)).toBe(expected);
    const asChosen = optionsOf([flag.replace('resource-label', 'namespace')], { app: 'watcher' });
    expect(asChosen).toMatchObject({ namespaceSelector: selector });
  });

  it('that is no selector is told with whatever else is wrong', () => {
    expect(
      errorsOf(['--resource-label-selector=a b', '--namespaces-to-ignore=A', '--namespace-selector=a=b=c'], {
        app: 'watcher',
      }),
    ).toEqual([
      '--namespaces-to-ignore: expected names of namespaces, separated by commas; given "A"',
      '--namespace-selector: expected a label selector such as env=prod,team in (a,b),!legacy; given "a=b=c"',
      '--resource-label-selector: expected a label selector such as env=prod,team in (a,b),!legacy; given "a b"',
    ]);
  });

  it('that is a text is false if empty, and told what it should be', () => {
    expect(optionsOf(['--reload-on-create='])).toMatchObject({ reloadOnCreate: false });
    expect(errorsOf(['--reload-on-create=yes', '--reload-on-delete=2'])).toEqual([
      '--reload-on-create: expected true or false; given "yes"',
      '--reload-on-delete: expected true or false; given "2"',
    ]);
  });

  it.each(['true', '1', 'T', 'TRUE'])('ALERT_ON_RELOAD=%s needs a URL', (on) => {
    expect(errorsOf([], { env: { ALERT_ON_RELOAD: on } })).toEqual([
      '--alert-webhook-url: expected a URL, because alerts are on; given none (ALERT_WEBHOOK_URL)',
    ]);
    expect(errorsOf([], { env: { ALERT_ON_RELOAD: on, ALERT_WEBHOOK_URL: 'https://h/x' } })).toEqual([]);
  });

  it('ALERT_ON_RELOAD is any boolean, and nothing else', () => {
    expect(errorsOf([], { env: { ALERT_ON_RELOAD: 'False' } })).toEqual([]);
    expect(errorsOf([], { env: { ALERT_ON_RELOAD: 'yes' } })).toEqual([
      '--alert-on-reload: expected true or false; given "yes" (from ALERT_ON_RELOAD)',
    ]);
  });

  it.each([
    ['slack', 'slack'],
    [' Teams ', 'teams'],
    ['GCHAT', 'gchat'],
    ['webhook', 'raw'],
    ['raw', 'raw'],
    ['mail', 'raw'],
  ])('ALERT_SINK=%j is the sink %s', (given, sink) => {
    expect(optionsOf([], { env: { ALERT_SINK: given } }).alertSink).toBe(sink);
  });

  it.each([
    ['enabled', true],
    ['true', true],
    ['1', true],
    ['false', false],
    ['disabled', false],
    ['', false],
  ])('METRICS_COUNT_BY_NAMESPACE=%j is %j', (given, on) => {
    const { metricsCountByNamespace } = optionsOf([], { env: { METRICS_COUNT_BY_NAMESPACE: given } });
    expect(metricsCountByNamespace).toBe(on);
  });
});

describe('--is-Argo-Rollouts', () => {
  it.each<[string, readonly string[], boolean]>([
    ["in the incumbent's spelling", ['--is-Argo-Rollouts=true'], true],
    ['in the sane spelling', ['--is-argo-rollouts=true'], true],
    ['after a blank', ['--is-argo-rollouts', 'T'], true],
    ['with any text that means true', ['--is-Argo-Rollouts=1'], true],
    ['with any text that means false', ['--is-Argo-Rollouts=F'], false],
    ['with an empty text', ['--is-Argo-Rollouts='], false],
    [
      'in both spellings: the last one counts',
      ['--is-Argo-Rollouts=true', '--is-argo-rollouts=false'],
      false,
    ],
    ['not at all', [], false],
  ])('can be given %s', (_sentence, argv, expected) => {
    expect(optionsOf(argv, { app: 'watcher' }).isArgoRollouts).toBe(expected);
  });

  it.each(['--is-Argo-Rollouts', '--is-argo-rollouts'])('%s with another text is an error', (flag) => {
    expect(errorsOf([`${flag}=yes`])).toEqual(['--is-Argo-Rollouts: expected true or false; given "yes"']);
  });
});

describe('--is-openshift', () => {
  it.each([
    ['true', true],
    ['0', false],
    ['auto', 'auto'],
  ])('takes %s', (text, expected) => {
    expect(optionsOf([`--is-openshift=${text}`], { app: 'watcher' }).isOpenshift).toBe(expected);
  });

  it('takes nothing else', () => {
    expect(errorsOf(['--is-openshift=maybe'], { app: 'watcher' })).toEqual([
      '--is-openshift: expected true, false or auto; given "maybe"',
    ]);
  });
});

describe('a credential', () => {
  it.each<[string, readonly string[], Environment]>([
    ['in a Redis URL that is wrong', [`--redis-url=http://u:${SECRET}@redis`], {}],
    ['in a Redis URL without a scheme', ['--redis-url', `u:${SECRET}@redis`], {}],
    ['in a Redis URL of the environment', [], { REDIS_URL: `redis://u:1/${SECRET}@redis` }],
    ['in a URL without its flag', [`redis://u:${SECRET}@redis`], {}],
    ['in a mistyped flag', [`--redis-ulr=redis://u:${SECRET}@redis`], {}],
    ['after a mistyped flag', ['--redis-ulr', `redis://u:${SECRET}@redis`], {}],
    ['after a flag with one dash', ['-redis-url', SECRET], {}],
    ['in a webhook URL that is wrong', [`--webhook-url=ftp://h/${SECRET}`], {}],
    ['in a URL for alerts that is wrong', [], { ALERT_WEBHOOK_URL: `hooks.example/${SECRET}` }],
    ['behind a user whose percent sign is not encoded', [`--webhook-url=https://50%:${SECRET}@h`], {}],
    ['whose percent sign is not encoded', [], { ALERT_WEBHOOK_PROXY: `http://u:%${SECRET}@h` }],
    // Together, they could be decoded.
    [
      'behind a user of Redis whose percent sign is not encoded',
      [`--redis-url=redis://u%:41${SECRET}@h`],
      {},
    ],
    ['in another option by mistake', [`--debounce=redis://:${SECRET}@redis`], {}],
  ])('%s is not in the errors', (_sentence, argv, env) => {
    const errors = errorsOf(argv, { env });
    expect(errors.length).toBe(1);
    expect(errors.join()).not.toContain(SECRET);
  });

  it.each(['https://h/x', 'https://u%25:p%40w@h/x%'])('is accepted in %s', (url) => {
    expect(optionsOf([], { env: { ALERT_WEBHOOK_URL: url } }).alertWebhookUrl).toBe(url);
  });

  it.each(['redis://h', 'rediss://:p%40w@h:6380/2', 'redis://u:p@[::1]:6379/'])(
    'is accepted in %s',
    (url) => {
      expect(optionsOf([], { env: { REDIS_URL: url } }).redisUrl).toBe(url);
    },
  );
});

describe('help and version', () => {
  it.each([
    ['--help', 'help'],
    ['-h', 'help'],
    ['--version', 'version'],
  ] as const)('%s is asked for even beside errors', (flag, asked) => {
    expect(parseOptions('watcher', ['--nope', flag], {})).toEqual({ ok: false, errors: [], asked });
  });
});
