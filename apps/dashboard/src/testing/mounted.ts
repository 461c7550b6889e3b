import { render, type ComponentChild } from 'preact';
import { afterEach, beforeEach, vi } from 'vitest';

/** As much of a browser as Preact and the dashboard need. Import this before what reads the session. */
class FakeNode {
  readonly childNodes: FakeNode[] = [];
  parentNode: FakeNode | null = null;

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.childNodes.map(({ textContent }) => textContent).join('');
  }

  insertBefore(node: FakeNode, before: FakeNode | null): void {
    node.remove();
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    node.parentNode = this;
  }

  remove(): void {
    const siblings = this.parentNode?.childNodes ?? [];
    if (siblings.includes(this)) siblings.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  }
}

class FakeText extends FakeNode {
  data: string;

  constructor(data: string) {
    super();
    this.data = data;
  }

  override get textContent(): string {
    return this.data;
  }
}

class FakeElement extends FakeNode {
  readonly localName: string;
  readonly attributes = new Map<string, string>();
  value = '';
  readonly #listeners = new Map<string, (event: unknown) => void>();

  constructor(localName: string) {
    super();
    this.localName = localName;
  }

  /** The form whose submission checks it, as a browser does. */
  get form(): FakeElement | null {
    let node = this.parentNode;
    while (node && !(node instanceof FakeElement && node.localName === 'form')) node = node.parentNode;
    return node;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.#listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.#listeners.delete(type);
  }

  focus(): void {
    this.attributes.set('focused', '');
    Object.assign(document, { activeElement: this });
  }

  showModal(): void {
    this.attributes.set('open', '');
  }

  close(): void {
    this.attributes.delete('open');
    this.#listeners.get('close')?.call(this, {});
  }

  scrollIntoView(): void {
    this.attributes.set('revealed', '');
  }

  /** Resolves with whether the browser is left to do what it does by itself. */
  async press(key: string): Promise<boolean> {
    let isLeft = true;
    this.#listeners.get('keydown')?.call(this, { key, preventDefault: () => void (isLeft = false) });
    await settled();
    return isLeft;
  }

  /** What a person does to it. */
  async fire(type: 'click' | 'input' | 'submit', value = this.value): Promise<void> {
    this.value = value;
    this.#listeners.get(type)?.call(this, { currentTarget: this, preventDefault: () => undefined });
    await settled();
  }
}

/** A request that the dashboard has sent, with what answers it. */
interface Sent {
  /** From after `/api/v1`. */
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly answer: (body: unknown, status?: number) => Promise<void>;
  /** The connection is lost. */
  readonly fail: () => Promise<void>;
}

export const requests: Sent[] = [];
let root: FakeElement;

Object.assign(globalThis, {
  sessionStorage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
  document: {
    baseURI: 'http://reroll/',
    createElementNS: (_: string, name: string) => new FakeElement(name),
    createTextNode: (data: string) => new FakeText(data),
    querySelector: (name: string) => findAll(name)[0] ?? null,
    getElementById: (id: string) => allOf(root).find(({ attributes }) => attributes.get('id') === id) ?? null,
  },
  history: {
    state: null,
    replaceState(state: unknown) {
      Object.assign(this, { state });
    },
  },
  scrollTo: () => undefined,
});

/** For the specs of a file: they send no requests, and time stands still. */
export function inBrowser(): void {
  beforeEach(() => {
    // After whatever pause another spec was told to keep.
    vi.useFakeTimers({ now: Date.now() + 3_600_000 });
    requests.length = 0;
    history.replaceState(null, '');
    root = new FakeElement('main');
    vi.spyOn(globalThis, 'fetch').mockImplementation(send as unknown as typeof fetch);
  });
  afterEach(() => {
    show(null);
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

function send(
  url: URL,
  { headers, body, signal }: { headers: Record<string, string>; body?: string; signal?: AbortSignal },
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
  requests.push({
    path: url.href.replace(/^.*\/api\/v1/, ''),
    body: body === undefined ? undefined : JSON.parse(body),
    key: headers['idempotency-key'],
    signal,
    answer: async (given, status = 200) => {
      resolve(new Response(JSON.stringify(given), { status }));
      await settled();
    },
    fail: async () => {
      reject(new TypeError('Failed to fetch'));
      await settled();
    },
  });
  return promise;
}

function show(shown: ComponentChild): void {
  render(shown, root as unknown as Element);
}

/** Until effects have run. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
}

/** Shows something in place of what was there before. */
export async function mount(shown: ComponentChild): Promise<void> {
  show(shown);
  await settled();
}

export function text(): string {
  return root.textContent;
}

/** The first element of this name, whose text begins so, or with this id. */
export function find(name: string, beginning = '', id?: string): FakeElement {
  const found = findAll(name).find(
    ({ textContent, attributes }) =>
      textContent.startsWith(beginning) && (id === undefined || attributes.get('id') === id),
  );
  if (!found) throw new Error(`no ${name} ${beginning} in: ${text()}`);
  return found;
}

/** Every element of this name. */
export function findAll(name: string): FakeElement[] {
  return allOf(root).filter(({ localName }) => localName === name);
}

function allOf(node: FakeNode): FakeElement[] {
  const below = node.childNodes.flatMap(allOf);
  return node instanceof FakeElement ? [node, ...below] : below;
}
