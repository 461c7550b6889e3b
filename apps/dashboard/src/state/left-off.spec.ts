import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** As much of a window as it takes: pages are high or not yet, and each place of the history has its state. */
const page = { height: 0, top: 0 };
let listeners: Map<string, () => void>;
let resized: () => void;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  listeners = new Map();
  Object.assign(page, { height: 0, top: 0 });
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) => listeners.set(type, listener));
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, 0));
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe = (): void => undefined;
      constructor(listener: () => void) {
        resized = listener;
      }
    },
  );
  vi.stubGlobal('document', { body: {} });
  vi.stubGlobal('location', { hash: '#/workloads' });
  vi.stubGlobal('scrollY', 0);
  vi.stubGlobal('history', {
    state: null,
    replaceState: (state: unknown) => Object.assign(history, { state }),
  });
  vi.stubGlobal('scrollTo', (_: number, top: number) => scroll(Math.min(top, page.height)));
  const { keepScroll } = await import('./left-off.ts');
  keepScroll();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function scroll(top: number): void {
  page.top = top;
  vi.stubGlobal('scrollY', top);
  listeners.get('scroll')?.();
}

/** The reader comes to an entry of the history. */
async function come(state: unknown): Promise<void> {
  Object.assign(history, { state });
  const { resume } = await import('./left-off.ts');
  resume();
  await vi.advanceTimersByTimeAsync(10);
}

async function grow(height: number): Promise<void> {
  page.height = height;
  resized();
  await vi.advanceTimersByTimeAsync(1_000);
}

it('a page is scrolled as it was left once it is high enough, and keeps that', async () => {
  await come(null);
  page.height = 9_000;
  scroll(1_234.4);
  await vi.advanceTimersByTimeAsync(1_000);
  const left: unknown = history.state;
  expect(left).toEqual({ top: 1_234 });
  Object.assign(page, { height: 0, top: 0 });
  await come(left);
  await grow(500);
  expect([page.top, history.state]).toEqual([500, { top: 1_234 }]);
  await grow(9_000);
  expect(page.top).toBe(1_234);
  scroll(2_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(history.state).toEqual({ top: 2_000 });
});

it('a page that is left by a click right after it was scrolled is found as it was left', async () => {
  await come(null);
  page.height = 9_000;
  await vi.advanceTimersByTimeAsync(1_000);
  scroll(1_234);
  listeners.get('click')?.();
  Object.assign(location, { hash: '#/jobs' });
  expect(history.state).toEqual({ top: 1_234 });
  // What a click has already led away from is not shown any more.
  Object.assign(history, { state: null });
  listeners.get('click')?.();
  expect(history.state).toBe(null);
});

it('an entry that is new is not scrolled, and is found like that', async () => {
  await come({ top: 700 });
  await come(null);
  await grow(9_000);
  expect([page.top, history.state]).toEqual([0, { top: 0 }]);
});

it.each(['wheel', 'touchstart', 'pointerdown', 'keydown'])(
  'a reader who does something meanwhile (%s) is left where they are',
  async (type) => {
    await come({ top: 700 });
    listeners.get(type)?.();
    await grow(9_000);
    expect(page.top).toBe(0);
  },
);

it('a page that grows much later is not scrolled', async () => {
  await come({ top: 700 });
  await vi.advanceTimersByTimeAsync(5_000);
  await grow(9_000);
  expect(page.top).toBe(0);
});

it('nothing is kept for the next entry while the last page is still shown', async () => {
  await come(null);
  page.height = 9_000;
  Object.assign(location, { hash: '#/jobs' });
  Object.assign(history, { state: { top: 10 } });
  scroll(700);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(history.state).toEqual({ top: 10 });
});
