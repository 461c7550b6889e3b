import { find, findAll, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { Fragment, h } from 'preact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits as limitsOfApi, type Limits as LimitsData } from '@reroll/shared/api/queues';
import type { Status } from '@reroll/shared/api/status';
import { OpenAction } from '../components/action.tsx';
import { pulse } from '../state/live.ts';
import { status } from '../state/status.ts';
import { Limits } from './limits.tsx';

inBrowser();

beforeEach(() => void (status.value = { caller: { maySteer: true } } as Status));
afterEach(() => void (status.value = undefined));

const NONE = { concurrency: null, reloadsPerMinute: null };

async function shown(limits: LimitsData): Promise<void> {
  await mount(h(Fragment, {}, h(Limits, {}), h(OpenAction, {})));
  await requests[0]?.answer(limits);
  await find('button', 'Set limits').fire('click');
}

describe('limits', () => {
  it.each([
    ['Concurrent jobs per worker', 'concurrency'],
    ['Reloads per minute', 'reloadsPerMinute'],
  ] as const)('%s are held to the bounds of the API before they are sent', async (label, name) => {
    await shown(NONE);
    const id = find('label', label).attributes.get('for');
    const input = find('input', '', id);
    expect(input.form).toBe(find('form'));
    const least = Number(input.attributes.get('min'));
    const most = Number(input.attributes.get('max'));
    const isTaken = [least - 1, least, most, most + 1].map(
      (value) => limitsOfApi.safeParse({ ...NONE, [name]: value }).success,
    );
    expect(isTaken).toEqual([false, true, true, false]);
  });

  it.each([
    [null, 'As set by the flag'],
    [0, 'No limit'],
    [60, '60'],
  ])('of %o reloads per minute are told by: %s', async (reloadsPerMinute, expected) => {
    await shown({ ...NONE, reloadsPerMinute });
    expect(findAll('dd').map(({ textContent }) => textContent)).toEqual(['As set by the flag', expected]);
    expect(text()).toContain('0 reloads per minute: no limit.');
  });

  it('sends only what was changed, so that what others set meanwhile stays', async () => {
    await shown({ concurrency: 4, reloadsPerMinute: 60 });
    // Somebody sets the other one while the dialog is open.
    pulse.value += 1;
    await mount(h(Fragment, {}, h(Limits, {}), h(OpenAction, {})));
    await requests.at(-1)?.answer({ concurrency: 8, reloadsPerMinute: 60 });
    const field = (label: string) => find('input', '', find('label', label).attributes.get('for'));
    await field('Reloads per minute').fire('input', '30');
    await field('Reason').fire('input', 'too many');
    await find('form').fire('submit');
    expect(requests.at(-1)).toMatchObject({ body: { reloadsPerMinute: 30, reason: 'too many' } });
    expect(requests.at(-1)?.body).not.toHaveProperty('concurrency');
  });

  it('are not sent if none was changed', async () => {
    await shown({ concurrency: 4, reloadsPerMinute: 60 });
    const field = (label: string) => find('input', '', find('label', label).attributes.get('for'));
    const isBarred = (): boolean => findAll('button').some(({ attributes }) => attributes.has('disabled'));
    await field('Reason').fire('input', 'too many');
    const before = requests.length;
    expect(isBarred()).toBe(true);
    await find('form').fire('submit');
    expect(requests).toHaveLength(before);
    await field('Reloads per minute').fire('input', '30');
    expect(isBarred()).toBe(false);
    await find('form').fire('submit');
    expect(requests.at(-1)).toMatchObject({ body: { reloadsPerMinute: 30 } });
  });
});
