import type { JSX } from 'preact';
import { localTime, utcTime } from '../time.ts';
import { reasonWords } from '../words.ts';

/** A sentence in which backticks mark code, and times are as the API writes them. */
export function Words({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text
        .split('`')
        .map((part, index) =>
          index % 2 === 1 ? <code key={index}>{part}</code> : <LocalTimes key={index} text={part} />,
        )}
    </>
  );
}

/** With milliseconds: what somebody has written, as in an annotation, stays as it is. */
const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;

/** A text with its times in the reader's zone. */
function LocalTimes({ text }: { text: string }): JSX.Element {
  return <>{text.split(TIMES).map((part, index) => (index % 2 === 1 ? inZone(part) : part))}</>;
}

function inZone(at: string): JSX.Element {
  const time = new Date(at);
  return (
    <time key={at} dateTime={at} title={utcTime(time)}>
      {localTime(time, new Date())}
    </time>
  );
}

/** Why, in words, with the code that logs and metrics carry. */
export function Why({ reason, detail }: { reason: string; detail?: string | undefined }): JSX.Element {
  const words = sentenceOf(detail === undefined || detail === '' ? reasonWords(reason) : detail);
  return (
    <span class="why">
      <Words text={words} /> <code class="code">{reason}</code>
    </span>
  );
}

/** What a conclusion gives as the reason, where it is plain which workload and source it is about. */
export function reasonIn(conclusion: string): string {
  return sentenceOf(/ changes: (.+)$/s.exec(conclusion)?.[1] ?? conclusion);
}

/** Begins with a capital, if it begins with a word and not with the name of something. */
export function sentenceOf(text: string): string {
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** A hash, shortened; whole in its title. */
export function Hash({ hash }: { hash: string | null }): JSX.Element {
  if (hash === null) return <span class="muted">none</span>;
  return (
    <code class="hash" title={hash}>
      {hash.length > 18 ? `${hash.slice(0, 16)}…` : hash}
    </code>
  );
}
