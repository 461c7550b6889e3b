import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where the demo writes: plain lines, with a little color if somebody watches. */
export class Terminal {
  readonly #began = performance.now();

  /** Columns of the terminal; undefined when there is none. */
  get columns(): number | undefined {
    return process.stdout.isTTY ? process.stdout.columns : undefined;
  }

  get elapsedSeconds(): string {
    return ((performance.now() - this.#began) / 1000).toFixed(1);
  }

  line(text = ''): void {
    process.stdout.write(`${text}\n`);
  }

  /** A line of progress, with the time since the start. */
  step(text: string): void {
    this.line(`${this.style('dim', `[${this.elapsedSeconds.padStart(5)} s]`)} ${text}`);
  }

  heading(text: string): void {
    this.line();
    this.line(this.style('bold', text));
    this.line();
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout });
  }
}
