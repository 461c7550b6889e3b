import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type CallError, type CallRequest } from '../api/client.ts';
import type { Answer as AnswerOf } from '../api/calls.ts';
import { calmFor } from '../state/calm.ts';
import { leavePages, pagesLeft } from '../state/left-off.ts';
import { deeds, pulse, slowNews } from '../state/live.ts';
import { sinceOf } from '../since.ts';
import { announce } from '../state/announcer.ts';
import { asCallError, useAsked, type Freshness } from '../use-answer.ts';
import { Answer, Trouble } from './answer.tsx';

type ListId = 'listChanges' | 'listWorkloads' | 'listSources' | 'listJobs' | 'listAudit';
type Item<Id extends ListId> = AnswerOf<Id>['items'][number];

interface Page<Each> {
  readonly items: readonly Each[];
  readonly next: string | null;
}

interface PagedProps<Id extends ListId> {
  readonly id: Id;
  readonly query: NonNullable<CallRequest['query']>;
  /** Only what is not older than so many minutes, at the time of each request. */
  readonly minutes?: string | undefined;
  readonly what: string;
  readonly freshness?: Freshness;
  readonly keyOf: (item: Item<Id>) => string;
  readonly children: (items: readonly Item<Id>[]) => ComponentChildren;
}

interface Known<Id extends ListId> {
  /** Further pages that were asked for, maybe before the reader left this entry of the history. */
  readonly pages: number;
  readonly items: readonly Item<Id>[];
  /** Undefined: no further page is known yet. */
  readonly next: string | null | undefined;
  readonly error?: CallError | undefined;
}

/**
 * A list whose first page stays fresh, and whose further pages come when they are asked for, again when the reader does something, and
 * now and then.
 */
export function Paged<Id extends ListId>(props: PagedProps<Id>): JSX.Element {
  // What was asked for another query is not for this one.
  return <Pages key={JSON.stringify([props.query, props.minutes])} {...props} />;
}

type Question<Id extends ListId> = Pick<PagedProps<Id>, 'id' | 'query' | 'minutes'>;

async function pageOf<Id extends ListId>(
  { id, query, minutes }: Question<Id>,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Page<Item<Id>>> {
  const since = sinceOf(minutes);
  const asked = { ...query, ...(since === undefined ? {} : { since }), cursor };
  return await call(id, { query: asked }, signal);
}

function Pages<Id extends ListId>(props: PagedProps<Id>): JSX.Element {
  const { what, freshness = 'news', keyOf, children, ...question } = props;
  const ask = (signal: AbortSignal): Promise<Page<Item<Id>>> => pageOf(question, undefined, signal);
  const asked = JSON.stringify(question);
  const first = useAsked(asked, ask, freshness);
  const [known, setKnown] = useState<Known<Id>>({ pages: pagesLeft(asked), items: [], next: undefined });

  const more = async (shown: readonly Item<Id>[], cursor: string): Promise<void> => {
    const pages = known.next === undefined ? 1 : known.pages + 1;
    leavePages(asked, pages);
    try {
      const page = await pageOf(question, cursor);
      announce(`${shown.length + page.items.length} ${what} are shown`);
      setKnown({ pages, items: [...shown, ...page.items], next: page.next });
    } catch (error) {
      setKnown((before) => ({
        ...before,
        error: asCallError(error),
      }));
    }
  };

  useReread(question, known.pages, {
    beat: beatOf(freshness),
    onRead: (read) => setKnown((before) => (before.pages === read.pages ? read : before)),
  });

  return (
    <Answer of={first} what={what}>
      {(page) => {
        const { items, next } = joined(page, known, keyOf);
        return (
          <>
            {items.length === 0 && next !== null ? (
              <p class="empty">None so far; there may be more.</p>
            ) : (
              children(items)
            )}
            {known.error ? <Trouble error={known.error} what={what} /> : null}
            {next === null ? null : (
              <button type="button" class="more" onClick={() => void more(items, next)}>
                Show more {what}
              </button>
            )}
          </>
        );
      }}
    </Answer>
  );
}

function beatOf(freshness: Freshness): number {
  if (freshness === 'once') return 0;
  return freshness === 'pulse' ? pulse.value : slowNews.value;
}

/**
 * Reads what is shown again when the reader comes back or does something, and with the beats: a page for each on average, however many there are.
 * One at a time: what is read when another one begins is of no use any more.
 */
function useReread<Id extends ListId>(
  question: Question<Id>,
  pages: number,
  { beat, onRead }: { beat: number; onRead: (read: Known<Id>) => void },
): void {
  // What the reader comes back to is due at once.
  const last = useRef({ deeds: deeds.value, beat: beat - pages });
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    const isDue = deeds.value !== last.current.deeds || beat - last.current.beat >= pages;
    if (pages === 0 || !isDue || calmFor() > 0) return;
    last.current = { deeds: deeds.value, beat };
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    reread(question, pages, mine.signal).then(
      (read) => (mine.signal.aborted ? undefined : onRead(read)),
      () => undefined,
    );
  }, [deeds.value, beat]);
}

/** Everything up to the last page that was asked for, as it is now. */
async function reread<Id extends ListId>(
  question: Question<Id>,
  pages: number,
  signal: AbortSignal,
): Promise<Known<Id>> {
  const items: Item<Id>[] = [];
  let next: string | null | undefined;
  for (let left = pages; left >= 0 && next !== null; left -= 1) {
    const page = await pageOf(question, next, signal);
    items.push(...page.items);
    next = page.next;
  }
  return { pages, items, next };
}

/** The first page, and what is known to come after it. Its items may have moved on since; if all have, nothing is known. */
function joined<Id extends ListId>(
  page: Page<Item<Id>>,
  { items, next }: Known<Id>,
  keyOf: (item: Item<Id>) => string,
): Page<Item<Id>> {
  const keys = new Set(page.items.map(keyOf));
  const last = items.findLastIndex((item) => keys.has(keyOf(item)));
  // A page can be empty while more follow.
  const isJoined = last !== -1 || (page.items.length === 0 && page.next !== null);
  // Nothing comes after the last page: what was there before is gone.
  if (next === undefined || !isJoined || page.next === null) return page;
  return { items: [...page.items, ...items.slice(last + 1)], next };
}
