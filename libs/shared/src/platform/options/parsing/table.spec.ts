import { describe, expect, it } from 'vitest';
import { helpText } from './help.ts';
import { APPS, camelCase, defaultText } from './option.ts';
import { parseOptions } from './parse.ts';
import { OPTION_LIST, optionsOf } from './table.ts';

/** The flags of stakater/Reloader, chart 2.2.16. */
const INCUMBENT = `auto-reload-all configmap-annotation secret-annotation auto-annotation ignore-annotation
  configmap-auto-annotation secret-auto-annotation auto-search-annotation search-match-annotation
  pause-deployment-annotation pause-deployment-time-annotation log-format log-level webhook-url
  resources-to-ignore ignored-workload-types namespaces namespaces-to-ignore namespace-selector
  resource-label-selector is-Argo-Rollouts reload-strategy reload-on-create reload-on-delete enable-ha
  sync-after-restart enable-pprof pprof-addr enable-csi-integration`
  .split(/\s+/u)
  .map((name) => `--${name}`);

describe('the table of options', () => {
  it.each(OPTION_LIST.map(([name, spec]) => [name, spec] as const))(
    'has %s under the name of its flag, with a variable and a sentence',
    (name, spec) => {
      expect(name).toBe(camelCase(spec.flag));
      expect(spec.env).toMatch(/^[A-Z][A-Z_]+$/u);
      expect(spec.description).toMatch(/^[A-Z].*\.$/u);
    },
  );

  it('has no flag and no variable twice', () => {
    const flags = OPTION_LIST.map(([, spec]) => spec.flag);
    expect(new Set(flags).size).toBe(flags.length);
    expect(new Set(OPTION_LIST.map(([, spec]) => spec.env)).size).toBe(OPTION_LIST.length);
  });

  it.each(APPS)('has defaults that are right for the %s', (app) => {
    const parsed = parseOptions(app, [], {});
    expect(parsed.ok).toBe(true);
    expect(Object.keys(parsed.ok ? parsed.options : {})).toEqual(optionsOf(app).map(([name]) => name));
  });

  it('knows the 29 flags of the incumbent, and no others as its', () => {
    const known = OPTION_LIST.map(([, spec]) => spec)
      .filter((spec) => spec.incumbent === true)
      .map(({ flag }) => flag);
    expect(known.sort()).toEqual([...INCUMBENT].sort());
    expect(INCUMBENT.length).toBe(29);
  });
});

describe('the help', () => {
  it.each(APPS)('of the %s names every option that it uses, its variable and its default', (app) => {
    const text = helpText(app).replaceAll(/\s+/gu, ' ');
    for (const [, spec] of optionsOf(app)) {
      expect(text).toContain(` ${spec.flag} `);
      expect(text).toContain(`[${spec.env}`);
      expect(text).toContain(defaultText(spec));
    }
  });

  it('of the worker leaves out what is the watcher’s', () => {
    expect(helpText('worker')).not.toContain('--lease-duration');
  });

  it.each(APPS)('of the %s fits into 100 columns', (app) => {
    expect(
      Math.max(
        ...helpText(app)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(100);
  });
});
