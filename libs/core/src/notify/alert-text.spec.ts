import { describe, expect, it } from 'vitest';
import { alertText } from './alert-text.ts';

const SOURCE = { kind: 'ConfigMap', namespace: 'shop', name: 'settings' } as const;
const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
const DB = { kind: 'StatefulSet', namespace: 'shop', name: 'db' } as const;

describe('the text of an alert', () => {
  it('for one workload is that of stakater/Reloader', () => {
    expect(alertText(SOURCE, [WEB], '')).toBe(
      'Reloader detected changes in *settings* of type *CONFIGMAP* in namespace *shop*. ' +
        'Hence reloaded *web* of type *Deployment* in namespace *shop*',
    );
  });

  it('begins with the additional information, if there is any', () => {
    expect(alertText({ ...SOURCE, kind: 'Secret' }, [WEB], 'cluster a')).toBe(
      'cluster a : Reloader detected changes in *settings* of type *SECRET* in namespace *shop*. ' +
        'Hence reloaded *web* of type *Deployment* in namespace *shop*',
    );
  });

  it('for several workloads lists them', () => {
    expect(alertText(SOURCE, [WEB, DB], '')).toBe(
      'Reloader detected changes in *settings* of type *CONFIGMAP* in namespace *shop*. ' +
        'Hence reloaded 2 workloads in namespace *shop*: *web* of type *Deployment*, *db* of type *StatefulSet*',
    );
  });

  it('for many workloads names twenty and counts the rest', () => {
    const many = Array.from({ length: 23 }, (_, index) => ({ ...WEB, name: `web-${index}` }));
    const text = alertText(SOURCE, many, '');
    expect(text).toContain('Hence reloaded 23 workloads');
    expect(text).toMatch(/\*web-19\* of type \*Deployment\* and 3 more$/);
  });
});
