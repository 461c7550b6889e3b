import type { ComponentChildren, JSX } from 'preact';
import { Fragment } from 'preact';
import { clusterName } from '../../cluster-name.ts';
import { Awaited, Trouble } from '../../components/answer.tsx';
import { SignIcon } from '../../components/badge.tsx';
import { route } from '../../router.ts';
import { status } from '../../state/status.ts';
import type { InstallState } from './install-state.ts';
import type { Look } from '../../words.ts';
import type { InstallAnswer } from './use-install-state.ts';
import { verdictOf, type Part, type Verdict as VerdictParts } from './verdict-words.ts';

/** One sentence: is everything all right? Each number of a problem leads to exactly those; lists of what is in progress have these, too. */
export function Verdict({ of }: { of: InstallAnswer }): JSX.Element {
  const { state, failure, refresh } = of;
  return (
    <>
      {failure ? <Trouble {...failure} again={refresh} /> : null}
      {state === undefined && failure === undefined ? (
        <Sentence tone="quiet" sign="ring" isLoading>
          checking whether everything is reloaded
          <Awaited />
        </Sentence>
      ) : null}
      {state === undefined ? null : <Known state={state} of={of} />}
    </>
  );
}

function Known({ state, of }: { state: InstallState; of: InstallAnswer }): JSX.Element {
  const verdict = verdictOf(state, of.isCut, of.failure !== undefined);
  if ([verdict.attention, verdict.progress, verdict.older].some((text) => text !== ''))
    return <Open of={verdict} />;
  return (
    <Sentence tone={of.isUnused ? 'quiet' : verdict.tone} sign={of.isUnused ? 'ring' : verdict.sign}>
      {calmWords(of.isUnused, verdict.isWhole)}
    </Sentence>
  );
}

/** Something needs attention, is in progress, or may have older data. */
function Open({ of }: { of: VerdictParts }): JSX.Element {
  const { tone, sign, attention, problems, progress, steps, older, stale } = of;
  const counts = [
    { text: attention, parts: problems },
    { text: progress, parts: steps },
    { text: older, parts: stale },
  ].filter(({ text }) => text !== '');
  return (
    <Sentence tone={tone} sign={sign}>
      {counts.map((count, at) => (
        <Fragment key={count.text}>
          {at === 0 ? null : ', '}
          <Count {...count} />
        </Fragment>
      ))}
      {attention === '' ? `, ${restWords(of)}.` : '.'}
    </Sentence>
  );
}

const NOT_WHOLE = 'but not everything could be checked';

function restWords({ isWhole, older }: VerdictParts): string {
  if (!isWhole) return NOT_WHOLE;
  return older === '' ? 'nothing needs attention' : 'nothing else needs attention';
}

/** If nothing is known to be open. */
function calmWords(isUnused: boolean, isWhole: boolean): string {
  if (!isWhole) return `nothing found that needs attention, ${NOT_WHOLE}.`;
  return isUnused ? `no workload${scope()} asks for reloads yet.` : `everything${scope()} is reloaded.`;
}

interface SentenceProps {
  readonly tone: Look['tone'];
  readonly sign: Look['sign'];
  readonly isLoading?: boolean;
  readonly children: ComponentChildren;
}

function Sentence({ tone, sign, isLoading = false, children }: SentenceProps): JSX.Element {
  const cluster = status.value?.cluster ?? '';
  const { namespace } = route.value;
  return (
    <p class={`verdict ${tone}${isLoading ? ' loading' : ''}`}>
      <SignIcon sign={sign} />
      <span>
        <strong title={cluster}>{clusterName(cluster)}</strong>
        {namespace === '' ? '' : `, namespace ${namespace}`}: {children}
      </span>
    </p>
  );
}

/** Who does not see every namespace is not told of everything. */
function scope(): string {
  return status.value?.caller.clusterWide === true ? '' : ' that you may see';
}

/** `2 need attention (1 stuck, 1 held)`; of a single part, the whole is the link. */
function Count({ text, parts }: { text: string; parts: readonly Part[] }): JSX.Element {
  const [only, second] = parts;
  if (only && !second) {
    return (
      <>
        <a href={only.href}>{text}</a> ({only.word})
      </>
    );
  }
  return (
    <>
      {text} (
      {parts.map(({ count, word, href }, at) => (
        <Fragment key={word}>
          {at === 0 ? null : ', '}
          <a href={href}>{`${count.toLocaleString('en')} ${word}`}</a>
        </Fragment>
      ))}
      )
    </>
  );
}
