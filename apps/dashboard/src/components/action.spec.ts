import { find, findAll, inBrowser, mount as mountAlone, requests, text } from '../testing/mounted.ts';
import { Fragment, h, type ComponentChild } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Status } from '@reroll/shared/api/status';
import type { Waves } from '@reroll/shared/api/waves';
import { status } from '../state/status.ts';
import { Action, OpenAction } from './action.tsx';
import { ApproveAction, FreezeAction, FreezeNamespaceActions } from './hold-actions.tsx';
import { WavesPanel } from './waves-panel.tsx';

inBrowser();

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;

beforeEach(() => void (status.value = { caller: { mayHold: true } } as Status));
afterEach(() => void (status.value = undefined));

/** As the page and the frame around it. */
async function mount(shown: ComponentChild): Promise<void> {
  await mountAlone(h(Fragment, {}, shown, h(OpenAction, {})));
}

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
  await open('Freeze');
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

it('a button tells of which object it is', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  expect(find('button', 'Freeze').attributes.get('title')).toBe('Freeze Deployment web in shop');
});

it('a freeze of another namespace has another key', async () => {
  for (const namespace of ['shop', 'bank']) {
    await mount(h(FreezeNamespaceActions, { namespace }));
    await open('Freeze the namespace');
    await field('Reason', 'year-end');
    await sendInVain();
    await find('button', 'Cancel').fire('click');
  }
  const [shop, bank] = requests;
  expect([shop?.path, bank?.path]).toEqual(['/namespaces/shop/freeze', '/namespaces/bank/freeze']);
  expect(bank?.key).not.toBe(shop?.key);
});

it('while it is not known whether something was done, it can be sent again with the same key', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await open('Freeze');
  await field('Reason', 'year-end');
  await find('form').fire('submit');
  await requests.at(-1)?.fail();
  expect(text()).toContain('It is not known whether this was done.');
  await sendInVain();
  expect(text()).toContain('It is not known whether this was done.');
  expect(requests.map(({ key }) => key)).toEqual([requests[0]?.key, requests[0]?.key]);
});

it('what is said of a request is not said of another one, which could be done besides', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await open('Freeze');
  await field('Reason', 'year-end');
  await sendInVain();
  expect(text()).toContain('it is not done twice');
  await field('Reason', 'year-end sale');
  expect(text()).not.toContain('it is not done twice');
  await field('Reason', 'year-end');
  expect(text()).toContain('it is not done twice');
  await field('Until', '2099-12-31T00:00');
  expect(text()).not.toContain('it is not done twice');
});

it('what Reroll itself answers is told as it says it', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await open('Freeze');
  await find('form').fire('submit');
  await requests[0]?.answer({ title: 'Redis cannot be reached', detail: 'retry' }, 503);
  expect(text()).toContain('Redis cannot be reached. Retry.');
  expect(text()).not.toContain('It is not known');
});

it('nothing is sent while the browser cannot read the time that was entered', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await open('Freeze');
  // A browser submits a form only if all fields in it are valid; a time of which a part is missing has no value, and is not.
  const until = findAll('input').find(({ attributes }) => attributes.get('type') === 'datetime-local');
  expect(until?.form).toBe(find('form'));
  // Nor is one that no time can be made of.
  expect(until?.attributes.get('max')).toBe('9999-12-31T23:59');
});

/** As a person does who looks at what is pending. */
async function open(label: string): Promise<void> {
  await find('button', label).fire('click');
}

function canBeSent(): boolean {
  return !findAll('button').some(
    ({ attributes }) => attributes.get('type') === 'submit' && attributes.has('disabled'),
  );
}

it('an approval of something else has another key', async () => {
  await mount(h(ApproveAction, { of: WEB, id: '0123456789' }));
  await open('Approve');
  await field('Reason', 'looked at it');
  await sendInVain();
  await find('button', 'Cancel').fire('click');
  await mount(h(ApproveAction, { of: WEB, id: 'abcdef0123' }));
  await open('Approve');
  await sendInVain();
  expect(requests.map(({ body }) => body)).toEqual([
    { reason: 'looked at it', id: '0123456789' },
    { reason: 'looked at it', id: 'abcdef0123' },
  ]);
  expect(requests.at(-1)?.key).not.toBe(requests.at(-2)?.key);
});

it('what becomes pending while somebody looks at something else is not approved', async () => {
  await mount(h(ApproveAction, { of: WEB, id: '0123456789' }));
  await open('Approve');
  expect(text()).not.toContain('has changed');
  await field('Reason', 'looked at it');
  await mount(h(ApproveAction, { of: WEB, id: 'abcdef0123' }));
  expect(text()).toContain('What is pending has changed since you opened this.');
  expect(find('code').textContent).toBe('0123456789');
  expect(canBeSent()).toBe(false);
  await find('form').fire('submit');
  expect(requests).toEqual([]);

  await open('Approve');
  expect(find('code').textContent).toBe('abcdef0123');
  expect(canBeSent()).toBe(true);
});

it('a change that has come while somebody looks at an earlier one is not resumed', async () => {
  const panel = (hash: string): ComponentChild => {
    const halted = { workload: WEB, reloaded: true, detail: 'has failed' };
    const data: Waves = {
      hash,
      halted,
      waves: '1, all',
      bake: null,
      plan: null,
      problem: null,
      resumed: false,
    };
    return h(WavesPanel, {
      of: { kind: 'Secret', namespace: 'shop', name: 'db' },
      answer: { data, error: undefined, knownAt: undefined, refresh: () => undefined },
    });
  };
  await mount(panel('old'));
  await open('Resume');
  await field('Reason', 'looked at it');
  await mount(panel('new'));
  expect(canBeSent()).toBe(false);
  await find('form').fire('submit');
  expect(requests).toEqual([]);

  await open('Resume');
  await sendInVain();
  expect(requests.map(({ body }) => body)).toEqual([{ reason: 'looked at it', hash: 'new' }]);
});

it('a dialog stays open with what was typed when a refresh removes its button', async () => {
  await mount(h(FreezeAction, { of: WEB, isFrozen: false }));
  await open('Freeze');
  await field('Reason', 'year-');
  await mount(h('h1', { tabIndex: -1 }, 'Jobs'));
  await field('Reason', 'year-end');
  await field('Until', '2099-12-31T00:00');
  await find('form').fire('submit');
  expect(requests[0]?.body).toMatchObject({
    reason: 'year-end',
    until: expect.stringMatching(/^2099-/) as string,
  });
  await requests[0]?.answer({});
  expect(findAll('dialog')).toEqual([]);
  expect(document.activeElement).toBe(find('h1'));
});

it('a dialog that cannot be drawn says so, and the next one opens', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const Broken = (): never => {
    throw new TypeError('a newer API');
  };
  const action = (label: string, children: ComponentChild): ComponentChild =>
    h(Action, { key: label, label, title: label, done: label, run: () => Promise.resolve(), children });
  const actions = [action('Pause', h(Broken, {})), action('Resume', 'It goes on.')];
  await mount(actions);
  await open('Pause');
  expect(find('dialog').textContent).toContain('The dashboard could not draw');
  find('dialog').close();
  await mount(actions);
  await open('Resume');
  expect(find('dialog').textContent).toContain('It goes on.');
});

it('the focus goes to the heading when the button that had it is gone', async () => {
  const shown = (label: string): ComponentChild => [
    h('h1', {}, 'Jobs'),
    h(Action, { key: label, label, title: label, done: label, run: () => Promise.resolve(), children: null }),
  ];
  await mount(shown('Pause'));
  find('button', 'Pause').focus();
  await mount(shown('Resume'));
  expect(document.activeElement).toBe(find('h1'));
});
