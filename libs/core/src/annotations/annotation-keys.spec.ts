import { describe, expect, it } from 'vitest';

import { annotationOf, DEFAULT_ANNOTATION_KEYS, parseGoBool, typedKeys } from './annotation-keys.ts';

describe('the default keys', () => {
  it('are those of stakater/Reloader', () => {
    expect(DEFAULT_ANNOTATION_KEYS).toEqual({
      auto: 'reloader.stakater.com/auto',
      configMapAuto: 'configmap.reloader.stakater.com/auto',
      secretAuto: 'secret.reloader.stakater.com/auto',
      secretProviderClassAuto: 'secretproviderclass.reloader.stakater.com/auto',
      configMapReload: 'configmap.reloader.stakater.com/reload',
      secretReload: 'secret.reloader.stakater.com/reload',
      secretProviderClassReload: 'secretproviderclass.reloader.stakater.com/reload',
      configMapExclude: 'configmaps.exclude.reloader.stakater.com/reload',
      secretExclude: 'secrets.exclude.reloader.stakater.com/reload',
      secretProviderClassExclude: 'secretproviderclasses.exclude.reloader.stakater.com/reload',
      search: 'reloader.stakater.com/search',
      match: 'reloader.stakater.com/match',
      ignore: 'reloader.stakater.com/ignore',
      pausePeriod: 'deployment.reloader.stakater.com/pause-period',
      pausedAt: 'deployment.reloader.stakater.com/paused-at',
      rolloutStrategy: 'reloader.stakater.com/rollout-strategy',
      lastReloadedFrom: 'reloader.stakater.com/last-reloaded-from',
    });
  });

  it.each(['ConfigMap', 'Secret', 'SecretProviderClass'] as const)('are told apart for a %s', (kind) => {
    const type = kind.toLowerCase();
    const plural = kind === 'SecretProviderClass' ? 'secretproviderclasses' : `${type}s`;
    expect(typedKeys(DEFAULT_ANNOTATION_KEYS, kind)).toEqual({
      reload: `${type}.reloader.stakater.com/reload`,
      auto: `${type}.reloader.stakater.com/auto`,
      exclude: `${plural}.exclude.reloader.stakater.com/reload`,
    });
  });
});

describe('a boolean', () => {
  it.each(['1', 't', 'T', 'true', 'TRUE', 'True'])('%s is true', (value) => {
    expect(parseGoBool(value)).toBe(true);
  });

  it.each(['0', 'f', 'F', 'false', 'FALSE', 'False'])('%s is false', (value) => {
    expect(parseGoBool(value)).toBe(false);
  });

  it.each(['', ' ', 'yes', 'no', 'on', 'off', 'tRue', 'true ', ' true', '2', 'y'])(
    '"%s" is neither',
    (value) => {
      expect(parseGoBool(value)).toBeUndefined();
    },
  );
});

describe('the value of an annotation', () => {
  it('is there even if it is empty', () => {
    expect(annotationOf({ a: '' }, 'a')).toBe('');
  });

  it.each(['toString', 'constructor', '__proto__'])('is never what every object has: %s', (key) => {
    expect(annotationOf({}, key)).toBeUndefined();
  });
});
