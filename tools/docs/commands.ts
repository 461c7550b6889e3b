/** The words of a command, as a shell splits it: without its quotes, and without a comment, a pipe or a redirection at its end. */
export function wordsOf(command: string): string[] {
  const [line = ''] = command.split(/\s(?:#|\||&&|>|2>|;)(?:\s|$)/u);
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/gu)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

const BLOCKS = /^```(?:sh|sh runnable|bash|console)\n([^]*?)^```$/gmu;

/** The commands of `reroll`, or `kubectl reroll`, in the fenced blocks of a page, without the name of the program. */
export function rerollCommandsOf(page: string): string[] {
  return [...page.matchAll(BLOCKS)]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/gu, ' ').split('\n'))
    .flatMap((line) => /^(?:\$ )?(?:kubectl reroll|reroll) (.*)$/u.exec(line.trim())?.[1] ?? []);
}
