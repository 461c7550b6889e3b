import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Combobox } from './combobox.tsx';
import { EXAMPLES, type Suggested } from './suggest-query.ts';
import { go, hrefOf, route, type Query } from '../router.ts';

export interface Filter {
  readonly name: string;
  readonly label: string;
  /** With these it is a choice: value and word. The empty value is added. */
  readonly choices?: readonly (readonly [string, string])[];
  /** It is a key, and these are suggested. */
  readonly suggests?: Suggested;
}

/** Filters of a list. They stand in the route, so that a filtered list can be linked to. */
export function Filters(props: {
  filters: readonly Filter[];
  submit?: string;
  /** What else of the route stays when these filters are asked for. */
  keep?: (asked: Query) => Query;
}): JSX.Element {
  const { filters, submit: word = 'Filter', keep } = props;
  const { page, query } = route.value;
  const key = JSON.stringify(query);
  const button = useRef<HTMLButtonElement>(null);
  const isAsked = useRef(false);
  const ask = (asked: Query): void => {
    isAsked.current = hrefOf(page, [], asked) !== location.hash;
    go(page, [], asked);
  };
  useLayoutEffect(() => {
    // What had the focus was in the last form.
    if (isAsked.current) button.current?.focus();
    isAsked.current = false;
  }, [key]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const asked = Object.fromEntries(filters.map(({ name }) => [name, textOf(given.get(name))]));
    ask({ ...keep?.(asked), ...asked });
  };
  return (
    // A new form for each route: its fields begin with what the route says.
    <form class="filters" aria-label={word} onSubmit={submit} key={key}>
      {filters.map((filter) => (
        <Field key={filter.name} filter={filter} value={query[filter.name] ?? ''} />
      ))}
      <div class="filter-buttons">
        <button ref={button} type="submit">
          {word}
        </button>
        {Object.keys(query).length === 0 ? null : (
          <button type="button" class="plain" onClick={() => ask({})}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
}

function Field({ filter, value }: { filter: Filter; value: string }): JSX.Element {
  const id = useId();
  const { name, label, choices } = filter;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <TextField id={id} filter={filter} value={value} />
      ) : (
        <select id={id} name={name}>
          <option value="">Any</option>
          {choices.map(([each, word]) => (
            <option key={each} value={each} selected={each === value}>
              {word}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function TextField(props: { id: string; filter: Filter; value: string }): JSX.Element {
  const { id, filter, value } = props;
  const { suggests, name } = filter;
  if (suggests)
    return <Combobox id={id} name={name} of={suggests} value={value} placeholder={EXAMPLES[suggests]} />;
  return <input id={id} name={filter.name} defaultValue={value} autocomplete="off" spellcheck={false} />;
}

export function textOf(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value.trim() : '';
}
