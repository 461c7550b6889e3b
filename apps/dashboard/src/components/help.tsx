import type { JSX, RefObject } from 'preact';
import { GO_KEYS } from '../shortcuts.ts';
import { hasShortcuts } from '../state/preferences.ts';

/** The keys, and the switch for them. */
export function Help({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }): JSX.Element {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl class="keys">
        <Key keys={['/']} word="Search" />
        {GO_KEYS.map(([key, , word]) => (
          <Key key={key} keys={['g', key]} word={word} />
        ))}
        <Key keys={['?']} word="This help" />
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={hasShortcuts.value}
          onChange={({ currentTarget }) => (hasShortcuts.value = currentTarget.checked)}
        />{' '}
        Single-key shortcuts are on
      </label>
      <div class="dialog-buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function Key({ keys, word }: { keys: readonly string[]; word: string }): JSX.Element {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{word}</dd>
    </div>
  );
}
