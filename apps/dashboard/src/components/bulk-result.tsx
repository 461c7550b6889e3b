import type { JSX } from 'preact';
import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { BulkItem } from '@reroll/shared/api/bulk';
import { asCallError } from '../use-answer.ts';
import { counted, type Look } from '../words.ts';
import { Refusal } from './action.tsx';
import { sentence, Trouble } from './answer.tsx';
import { Badge } from './badge.tsx';
import type { BulkAnswer, BulkStage } from './bulk.ts';
import { Portion } from './portion.tsx';

type Outcome = BulkItem['result'];

/** The order is that of a list: what goes wrong comes first. */
const OUTCOMES: Readonly<Record<Outcome, Look>> = {
  failed: { word: 'Failed', meaning: 'Reroll could not do it', sign: 'cross', tone: 'bad' },
  refused: {
    word: 'Refused',
    meaning: 'Your rights, or the present state, do not allow it',
    sign: 'cross',
    tone: 'bad',
  },
  notStarted: {
    word: 'Not started',
    meaning: 'There was no time left, or there were too many requests',
    sign: 'clock',
    tone: 'warn',
  },
  planned: { word: 'Planned', meaning: 'It is done when you confirm it', sign: 'ring', tone: 'quiet' },
  done: { word: 'Done', meaning: 'It was accepted', sign: 'check', tone: 'quiet' },
};
const ORDER = Object.keys(OUTCOMES) as Outcome[];

/** Items that are shown without a click. */
const FIRST = 8;

interface BulkPlanProps {
  readonly stage: Signal<BulkStage>;
  readonly noun: string;
  readonly again: () => Promise<void>;
}

/** What a dry run has shown. */
export function BulkPlan({ stage, noun, again }: BulkPlanProps): JSX.Element {
  const { planned, error } = stage.value;
  return (
    <div class="bulk-items">
      <p role="status" class={planned || error ? '' : 'loading'}>
        {error ? '' : planWords(planned, noun)}
      </p>
      {error ? <Trouble error={error} what={`which ${noun}s match`} /> : null}
      {planned ? <Items items={planned.items} noun={noun} /> : null}
      <button type="button" onClick={() => void again()}>
        Repeat the dry run
      </button>
    </div>
  );
}

function planWords(planned: BulkAnswer | undefined, noun: string): string {
  if (!planned) return `Dry run: checking which ${noun}s match…`;
  const { length } = planned.items;
  if (length === 0) return `Dry run: no ${noun} matches.`;
  return `Dry run: ${counted(length, noun)} ${length === 1 ? 'matches' : 'match'}${outcomeWords(planned, ['planned'])}.`;
}

/** `, 2 refused, 1 not started`, in words, so that color is never alone. */
function outcomeWords({ items }: BulkAnswer, without: readonly Outcome[]): string {
  return ORDER.map((outcome) => {
    const count = items.filter(({ result }) => result === outcome).length;
    const isTold = count > 0 && !without.includes(outcome);
    return isTold ? `, ${count} ${OUTCOMES[outcome].word.toLowerCase()}` : '';
  }).join('');
}

export function doneWords({ done }: BulkStage, noun: string): string {
  if (!done) return '';
  return `${counted(done.items.length, noun)}${outcomeWords(done, []).replace(',', ':')}.`;
}

interface BulkDoneProps {
  readonly stage: Signal<BulkStage>;
  readonly done: BulkAnswer;
  readonly noun: string;
  readonly close: () => void;
}

/** What became of each. The focus was in the form, which is no more. */
export function BulkDone({ stage, done, noun, close }: BulkDoneProps): JSX.Element {
  const summary = useRef<HTMLParagraphElement>(null);
  const [isSending, setSending] = useState(false);
  const { error, repeat } = stage.value;
  const isRest = done.items.some(({ result }) => result === 'failed' || result === 'notStarted');
  useLayoutEffect(() => summary.current?.focus(), [done]);
  const finish = async (): Promise<void> => {
    if (isSending) return;
    setSending(true);
    await repeat?.().catch(
      (thrown: unknown) => (stage.value = { ...stage.peek(), error: asCallError(thrown) }),
    );
    setSending(false);
  };
  return (
    <div class="bulk-items">
      <p ref={summary} tabIndex={-1}>
        <strong>{doneWords(stage.value, noun)}</strong>
      </p>
      <Items items={done.items} noun={noun} />
      {error ? <Refusal error={error} /> : null}
      <div class="dialog-buttons">
        {isRest ? (
          <button type="button" onClick={() => void finish()}>
            {isSending ? 'Sending…' : 'Do the rest'}
          </button>
        ) : null}
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}

function Items({ items, noun }: { items: readonly BulkItem[]; noun: string }): JSX.Element {
  const sorted = items.toSorted((one, other) => ORDER.indexOf(one.result) - ORDER.indexOf(other.result));
  return (
    <Portion items={sorted} first={FIRST} what={`${noun}s`}>
      {(shown) => (
        <ul>
          {shown.map((item) => (
            <li key={`${item.target} ${item.id ?? ''}`}>
              <Badge look={OUTCOMES[item.result]} /> {item.id === null ? null : <code>{item.id}</code>}{' '}
              {item.target}
              {item.problem ? <p class="muted">{why(item.problem)}</p> : null}
            </li>
          ))}
        </ul>
      )}
    </Portion>
  );
}

function why({ code, detail }: NonNullable<BulkItem['problem']>): string {
  return sentence((detail ?? code).replace(/^expected the right/, 'You need the right'));
}
