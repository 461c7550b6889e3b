import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { refOf } from '../names.ts';
import { useChoice, type Choosing } from './use-choice.ts';

interface ComboboxProps {
  readonly of: Choosing['of'];
  readonly value?: string;
  readonly onText?: Choosing['onText'];
  readonly onChoose?: Choosing['onChoose'];
  readonly id: string;
  readonly placeholder: string;
  readonly name?: string;
  readonly required?: boolean | undefined;
  readonly pattern?: string;
  readonly title?: string;
  readonly 'aria-label'?: string;
}

/** A field that suggests what the reader may see. Without an answer it is a plain field. */
export function Combobox({ of, value = '', onText, onChoose, ...rest }: ComboboxProps): JSX.Element {
  const list = useId();
  const { text, options, active, open, close, type, choose, press } = useChoice({
    of,
    value,
    onText,
    onChoose,
  });
  const isOpen = options.length > 0;
  return (
    <div class="combobox">
      <input
        {...rest}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? list : undefined}
        aria-activedescendant={active < 0 ? undefined : `${list}-${active}`}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onClick={isOpen ? undefined : open}
        onBlur={close}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={press}
      />
      {isOpen ? (
        <ul id={list} role="listbox" aria-label="Suggestions">
          {options.map((key, index) => (
            <li
              key={key}
              id={`${list}-${index}`}
              ref={index === active ? reveal : null}
              role="option"
              aria-selected={index === active}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(key)}
            >
              <Option of={key} all={rest.placeholder} />
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function reveal(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}

function Option({ of, all }: { of: string; all: string }): JSX.Element {
  const ref = refOf(of);
  if (!ref) return <>{of === '' ? all : of}</>;
  return (
    <span class="ref">
      <span class="kind">{ref.kind}</span> <span class="name">{`${ref.namespace}/${ref.name}`}</span>
    </span>
  );
}
