import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { ApproveAction } from '../../components/hold-actions.tsx';
import { Panel } from '../../components/panel.tsx';
import { RefLink } from '../../components/refs.tsx';
import { ReloadAction } from '../../components/reload-action.tsx';
import { RetryAction } from '../../components/retry-action.tsx';
import { Time } from '../../components/time.tsx';
import { sentenceOf, Words } from '../../components/words.tsx';
import { isSourceKind, spoken, type Ref } from '../../names.ts';
import { hrefOf, route } from '../../router.ts';
import { PROBLEM_LOOKS, type AttentionItem } from './attention-items.ts';

const FEW = 8;

/**
 * What needs attention: what, since when, why, and what can be done. Nothing if nothing does. The route can limit it to one problem,
 * while there is one.
 */
export function Attention({ items: all }: { items: readonly AttentionItem[] }): JSX.Element | null {
  const [isWhole, setWhole] = useState(false);
  const wanted = route.value.query['problem'];
  const some = all.filter(({ problem }) => problem === wanted);
  const [one] = some;
  const items = one ? some : all;
  if (items.length === 0) return null;
  const shown = isWhole ? items : items.slice(0, FEW);
  return (
    <Panel
      title={one ? `Needs attention: ${PROBLEM_LOOKS[one.problem].word.toLowerCase()}` : 'Needs attention'}
      aside={one ? <a href={hrefOf('')}>Everything that needs attention</a> : null}
    >
      <ul class="attention">
        {shown.map((item) => (
          <Item key={item.key} of={item} />
        ))}
      </ul>
      {shown.length === items.length ? null : (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {items.length}
        </button>
      )}
    </Panel>
  );
}

function Item({ of }: { of: AttentionItem }): JSX.Element {
  const { problem, subject, since, why } = of;
  return (
    <li>
      <Badge look={PROBLEM_LOOKS[problem]} />
      <div class="what">
        {subject ? <RefLink of={subject} /> : null}
        <p class="why" title={why}>
          <Words text={sentenceOf(why)} />
        </p>
      </div>
      <span class="since">
        {since === null ? null : (
          <>
            <span class="unseen">since </span>
            <Time at={since} />
          </>
        )}
      </span>
      <div class="actions">
        <Actions of={of} />
      </div>
    </li>
  );
}

/** The button that helps, for who may; and the page that tells more. */
function Actions({ of }: { of: AttentionItem }): JSX.Element {
  const { problem, subject, job, approval } = of;
  const workload = subject && !isSourceKind(subject.kind) ? subject : undefined;
  return (
    <>
      {workload && approval !== undefined ? <ApproveAction of={workload} id={approval} /> : null}
      {job === undefined ? null : <RetryAction id={job} state="failed" />}
      {workload && problem === 'failed' && job === undefined ? <ReloadAction of={workload} /> : null}
      <MoreLink of={of} workload={workload} />
    </>
  );
}

function MoreLink({ of, workload }: { of: AttentionItem; workload: Ref | undefined }): JSX.Element | null {
  const { problem, change, job } = of;
  if (problem === 'halted' && change !== undefined) {
    return <Link href={hrefOf('changes', [change])} word="Open change" of={of.subject} />;
  }
  if (job !== undefined) return <Link href={hrefOf('jobs', [job])} word="Open job" of={of.subject} />;
  if (workload) {
    const { kind, namespace, name } = workload;
    return <Link href={hrefOf('workloads', [kind, namespace, name])} word="Details" of={workload} />;
  }
  return ON_JOBS.test(of.why) ? <Link href={hrefOf('jobs')} word="Open jobs" of={undefined} /> : null;
}

/** Warnings of the installation about what the page Jobs shows. */
const ON_JOBS = /queue|job|frozen/i;

function Link(props: { href: string; word: string; of: Ref | undefined }): JSX.Element {
  const { href, word, of } = props;
  return (
    <a class="button" href={href} aria-label={of ? `${word}: ${spoken(of)}` : undefined}>
      {word}
    </a>
  );
}
