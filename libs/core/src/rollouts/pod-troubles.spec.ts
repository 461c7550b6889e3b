import { describe, expect, it } from 'vitest';
import { podTroubles, type PodSeen } from './pod-troubles.ts';

type Container = NonNullable<NonNullable<PodSeen['status']>['containerStatuses']>[number];

const app = (state: Container['state']): Container => ({ name: 'app', ...(state ? { state } : {}) });

function pod(name: string, ...containerStatuses: Container[]): PodSeen {
  return { metadata: { name }, status: { containerStatuses } };
}

/** What is told of one pod with such a container. */
function told(state: Container['state']): unknown {
  return podTroubles([pod('web-1', app(state))])[0];
}

describe('the trouble of a pod', () => {
  it('is the reason and the message of a container that waits, by the names of both', () => {
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop/web:2"' };
    expect(told({ waiting })).toEqual({ name: 'web-1', container: 'app', ...waiting });
  });

  it('has no login of a registry and no more than 300 characters', () => {
    const message = `pull from https://ann:hunter2@registry.shop/web ${'and so on '.repeat(50)}`;
    const { message: kept } = told({ waiting: { reason: 'ErrImagePull', message } }) as { message: string };
    expect(kept).toMatch(/^pull from https:\/\/…@registry\.shop\/web and so on/u);
    expect(kept).toHaveLength(300);
  });

  it.each(['RunContainerError', 'CreateContainerError', 'PostStartHookError', 'SomethingNew'])(
    'is the reason alone where the message may quote what the container was given: %s',
    (reason) => {
      expect(told({ waiting: { reason, message: 'exec: "hunter2": not found' } })).toMatchObject({
        reason,
        message: '',
      });
    },
  );

  it('has no path that is made of environment variables', () => {
    const waiting = {
      reason: 'CreateContainerConfigError',
      message: 'error SubPath `/hunter2` must not be an absolute path',
    };
    expect(told({ waiting })).toMatchObject({ message: 'error SubPath … must not be an absolute path' });
  });

  it('is reason and exit code of a container that failed, never the text that it left', () => {
    const terminated = { reason: 'Error', exitCode: 3, message: 'cannot log in with hunter2' };
    expect(told({ terminated })).toEqual({
      name: 'web-1',
      container: 'app',
      reason: 'Error',
      message: 'exit code 3',
    });
  });

  it('has no reason that is no word', () => {
    expect(told({ waiting: { reason: 'it was hunter2' } })).toMatchObject({ reason: '', message: '' });
  });

  it('is that of the container for which others wait', () => {
    const waits: Container = { name: 'app', state: { waiting: { reason: 'PodInitializing' } } };
    const fails: Container = {
      name: 'migrate',
      state: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
    };
    const [first] = podTroubles([
      { metadata: { name: 'a' }, status: { initContainerStatuses: [fails], containerStatuses: [waits] } },
    ]);
    expect(first).toMatchObject({ container: 'migrate', reason: 'OOMKilled' });
    const [later] = podTroubles([pod('b', waits, { ...fails, name: 'side' })]);
    expect(later).toMatchObject({ container: 'side' });
  });
});

describe('pods without trouble', () => {
  it.each([
    ['runs', {}],
    ['ended well', { terminated: { reason: 'Completed', exitCode: 0 } }],
  ] as const)('are left out: one whose container %s', (_what, state) => {
    expect(told(state)).toBeUndefined();
  });

  it('are left out: one that no node has taken', () => {
    expect(podTroubles([{ metadata: { name: 'web-1' } }])).toEqual([]);
  });

  it('leave room for five that have', () => {
    const pods = Array.from({ length: 9 }, (_, index) =>
      pod(`web-${index}`, app(index < 2 ? {} : { waiting: { reason: 'CrashLoopBackOff' } })),
    );
    expect(podTroubles(pods).map(({ name }) => name)).toEqual(['web-2', 'web-3', 'web-4', 'web-5', 'web-6']);
  });
});
