import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { go, route } from '../router.ts';

export interface Filter {
  readonly name: string;
  readonly label: string;
  /** With these it is a choice: value and word. The empty value is added. */
  readonly choices?: readonly (readonly [string, string])[];
  readonly placeholder?: string;
}

/** Filters of a list. They stand in the route, so that a filtered list can be linked to. */
export function Filters(props: { filters: readonly Filter[]; submit?: string }): JSX.Element {
  const { filters, submit: word = 'Filter' } = props;
  const { page, query } = route.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    go(page, [], Object.fromEntries(filters.map(({ name }) => [name, textOf(given.get(name))])));
  };
  return (
    // A new form for each route: its fields begin with what the route says.
    <form class="filters" aria-label={word} onSubmit={submit} key={JSON.stringify(query)}>
      {filters.map((filter) => (
        <Field key={filter.name} filter={filter} value={query[filter.name] ?? ''} />
      ))}
      <div class="filter-buttons">
        <button type="submit">{word}</button>
        {Object.keys(query).length === 0 ? null : (
          <button type="button" class="plain" onClick={() => go(page)}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
}

function Field({ filter, value }: { filter: Filter; value: string }): JSX.Element {
  const id = useId();
  const { name, label, choices, placeholder } = filter;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <input
          id={id}
          name={name}
          defaultValue={value}
          placeholder={placeholder ?? ''}
          autocomplete="off"
          spellcheck={false}
        />
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

function textOf(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value.trim() : '';
}
