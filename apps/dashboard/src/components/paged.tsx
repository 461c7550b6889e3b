import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, CallError, type CallRequest } from '../api/client.ts';
import type { Answer as AnswerOf } from '../api/calls.ts';
import { useAnswer, type Answered, type Freshness } from '../use-answer.ts';
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
  readonly what: string;
  readonly freshness?: Freshness;
  readonly keyOf: (item: Item<Id>) => string;
  readonly children: (items: readonly Item<Id>[]) => ComponentChildren;
}

interface Further<Id extends ListId> {
  readonly items: readonly Item<Id>[];
  /** Undefined: no further page was asked for yet. */
  readonly next: string | null | undefined;
  readonly error?: CallError | undefined;
}

/** A list whose first page stays fresh, and whose further pages come when they are asked for. */
export function Paged<Id extends ListId>(props: PagedProps<Id>): JSX.Element {
  const { id, query, what, freshness = 'news', keyOf, children } = props;
  // That every list answers with a page is beyond the type of an operation that is not known here.
  const first = useAnswer(id, { query }, freshness) as Answered<Page<Item<Id>>>;
  const [further, setFurther] = useState<Further<Id>>({ items: [], next: undefined });
  const place = JSON.stringify(query);
  useEffect(() => setFurther({ items: [], next: undefined }), [place]);

  const more = async (cursor: string): Promise<void> => {
    try {
      const page = (await call(id, { query: { ...query, cursor } })) as Page<Item<Id>>;
      setFurther((before) => ({ items: [...before.items, ...page.items], next: page.next }));
    } catch (error) {
      setFurther((before) => ({
        ...before,
        error: error instanceof CallError ? error : new CallError(0, {}),
      }));
    }
  };

  return (
    <Answer of={first} what={what}>
      {(page) => {
        const next = further.next === undefined ? page.next : further.next;
        return (
          <>
            {children(once([...page.items, ...further.items], keyOf))}
            {further.error ? <Trouble error={further.error} what={what} /> : null}
            {next === null ? null : (
              <button type="button" class="more" onClick={() => void more(next)}>
                Show more {what}
              </button>
            )}
          </>
        );
      }}
    </Answer>
  );
}

/** The first page moves on while further ones stay, so that an item can be on both. */
function once<Each>(items: readonly Each[], keyOf: (item: Each) => string): readonly Each[] {
  return [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].toReversed();
}
