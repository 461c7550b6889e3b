import { useEffect, useState } from 'preact/hooks';
import { announce } from '../state/announcer.ts';
import { counted } from '../words.ts';
import { useSuggestions, type SuggestedBy } from './suggestions.ts';

export interface Choosing {
  /** Of namespaces, one is to be chosen, or all; otherwise the field takes any text. */
  readonly of: SuggestedBy;
  readonly value: string;
  readonly onText: ((text: string) => void) | undefined;
  /** Without it, what is chosen becomes the text. */
  readonly onChoose: ((key: string) => void) | undefined;
}

export interface Choice {
  readonly text: string;
  /** Empty: the list is closed. Of namespaces, the empty one means all. */
  readonly options: readonly string[];
  /** Index of the option that Enter chooses; -1: none. */
  readonly active: number;
  readonly open: () => void;
  readonly close: () => void;
  readonly type: (text: string) => void;
  readonly choose: (key: string) => void;
  readonly press: (event: KeyboardEvent) => void;
}

/** The state of a field with suggestions. */
export function useChoice({ of, value, onText, onChoose }: Choosing): Choice {
  const isPicker = of === 'namespace';
  const [text, setText] = useState(value);
  /** What is suggested for; undefined: the list is closed. */
  const [asked, setAsked] = useState<string | undefined>(undefined);
  const [at, setAt] = useState<number | undefined>(undefined);
  const found = useSuggestions(of, asked);
  useEffect(() => {
    // What is typed may come back as the value.
    if (value === text) return;
    setText(value);
    setAsked(undefined);
  }, [value]);
  useEffect(() => {
    setAt(undefined);
    if (found.text) announce(counted(found.keys.length, 'suggestion'));
  }, [found]);

  const write = (given: string): void => {
    setText(given);
    onText?.(given);
  };
  const close = (): void => {
    setAsked(undefined);
    if (isPicker) setText(value);
  };
  const options = optionsFor(asked, found.keys, isPicker);
  // Of a namespace that is typed, the first that fits.
  const active = at ?? (isPicker && asked && found.text === asked ? 0 : -1);
  const choice = {
    text,
    options,
    active: active < options.length ? active : -1,
    open: () => setAsked(isPicker ? '' : text),
    close,
    type: (given: string) => {
      write(given);
      setAsked(given);
      setAt(undefined);
    },
    choose: (key: string) => {
      close();
      write(onChoose ? value : key);
      onChoose?.(key);
    },
  };
  return { ...choice, press: (event) => press(event, { choice, setAt, setAsked }) };
}

/** What does not fit what is typed meanwhile is left out, if that can be told; what is typed to its end comes first. */
function optionsFor(
  asked: string | undefined,
  keys: readonly string[],
  isPicker: boolean,
): readonly string[] {
  if (asked === undefined) return [];
  if (!isPicker) return asked === '' ? [] : keys;
  const fitting = keys.filter((key) => key.includes(asked) && key !== asked);
  return asked === '' || keys.includes(asked) ? [asked, ...fitting] : fitting;
}
function press(
  event: KeyboardEvent,
  by: {
    choice: Omit<Choice, 'press'>;
    setAt: (at: number) => void;
    setAsked: (asked: undefined) => void;
  },
): void {
  const { options, active, open, close, choose } = by.choice;
  const { length } = options;
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp':
      if (length === 0) open();
      else if (event.key === 'ArrowDown') by.setAt((active + 1) % length);
      else by.setAt(active > 0 ? active - 1 : length - 1);
      break;
    case 'Escape':
      if (length === 0) return;
      close();
      break;
    case 'Enter': {
      const key = options[active];
      // The form takes what is typed.
      if (key === undefined) {
        by.setAsked(undefined);
        return;
      }
      choose(key);
      break;
    }
    default:
      return;
  }
  event.preventDefault();
}
