import { effect, signal } from '@preact/signals';

/** `system`: as the reader's system has it. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((each) => each === stored('reroll-theme')) ?? 'system');

/** Keys of one letter can disturb who speaks to the machine, so they can be switched off. */
export const hasShortcuts = signal(stored('reroll-shortcuts') !== 'off');

/** Applies the preferences and keeps them. */
export function keepPreferences(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    store('reroll-theme', theme.value);
  });
  effect(() => store('reroll-shortcuts', hasShortcuts.value ? 'on' : 'off'));
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser that keeps nothing forgets a preference, no more. */
function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing depends on it.
  }
}
