import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { keyOf, type Ref } from '../names.ts';
import { suggestQuery, type Suggested } from './suggest-query.ts';

/** Milliseconds for which the reader has stopped typing before the API is asked. */
const PAUSE = 200;

interface RefInputProps {
  readonly id: string;
  readonly of: Suggested;
  readonly name?: string;
  readonly required?: boolean;
  readonly value?: string;
  readonly onText?: (text: string) => void;
}

/** A field for `kind/namespace/name` that suggests what the reader may see. Without an answer it is a plain field. */
export function RefInput({ of, value = '', onText, ...rest }: RefInputProps): JSX.Element {
  const list = useId();
  const [text, setText] = useState(value);
  const [isTyped, setTyped] = useState(false);
  const found = useSuggestions(of, isTyped ? text : undefined);
  return (
    <>
      <input
        {...rest}
        value={text}
        list={list}
        placeholder={of === 'source' ? 'Secret/shop/db' : 'Deployment/shop/web'}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setTyped(true);
          onText?.(currentTarget.value);
        }}
      />
      <datalist id={list}>
        {found.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
    </>
  );
}

/** `text`: undefined while nobody has typed, and the API is not asked. */
function useSuggestions(of: Suggested, text: string | undefined): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    if (text === undefined) return undefined;
    const controller = new AbortController();
    const ask = async (): Promise<void> => {
      const id = of === 'source' ? 'listSources' : 'listWorkloads';
      try {
        const { items } = await call(id, { query: suggestQuery(of, text) }, controller.signal);
        setFound(items.map((item: Ref) => keyOf(item)));
      } catch {
        // A suggestion is a help, no more: the request itself tells what is wrong.
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [of, text]);
  return found;
}
