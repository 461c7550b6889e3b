import { find, inBrowser, mount, requests } from '../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Status } from '@reroll/shared/api/status';
import { status } from '../state/status.ts';
import { ApproveAction, FreezeAction } from './hold-actions.tsx';

inBrowser();

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' };

beforeEach(() => void (status.value = { caller: { mayHold: true } } as Status));
afterEach(() => void (status.value = undefined));

async function field(label: string, value: string): Promise<void> {
  const id = find('label', label).attributes.get('for');
  await find('input', '', id).fire('input', value);
}

/** Sends it, and the connection fails before there is an answer. */
async function sendInVain(): Promise<void> {
  await find('form').fire('submit');
  await requests.at(-1)?.answer({}, 502);
}

it('what is sent again has the same key, and what is sent with another end has another one', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await field('Reason', 'year-end');
  await field('Until', '2099-12-31T00:00');
  await sendInVain();
  await sendInVain();
  await field('Until', '2099-12-31T12:00');
  await sendInVain();
  const [first, again, other] = requests.slice(-3);
  expect(again).toMatchObject({ key: first?.key, body: first?.body });
  expect(other?.body).not.toEqual(first?.body);
  expect(other?.key).not.toBe(first?.key);
});

it('an approval of something else has another key', async () => {
  await mount(h(ApproveAction, { of: WEB, id: '0123456789' }));
  await field('Reason', 'looked at it');
  await sendInVain();
  await mount(h(ApproveAction, { of: WEB, id: 'abcdef0123' }));
  await sendInVain();
  expect(requests.slice(-2).map(({ body }) => body)).toEqual([
    { reason: 'looked at it', id: '0123456789' },
    { reason: 'looked at it', id: 'abcdef0123' },
  ]);
  expect(requests.at(-1)?.key).not.toBe(requests.at(-2)?.key);
});
