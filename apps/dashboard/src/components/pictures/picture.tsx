import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { DEPENDENCY_LOOKS, type DependencyState } from '../../dependency-state.ts';
import { isSourceKind, keyOf, type Ref } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import { counted } from '../../words.ts';
import { Badge, SignIcon } from '../badge.tsx';
import { Portion } from '../portion.tsx';
import {
  GROUPINGS,
  isCrowded,
  sortedSpokes,
  spokeGroups,
  type Grouping,
  type Spoke,
  type SpokeGroup,
} from './picture-groups.ts';

interface PictureProps {
  readonly hub: Ref;
  readonly spokes: readonly Spoke[];
  /** The same in a sentence; the table below has every row. */
  readonly sentence: string;
}

/** Members of a group that are shown before one asks for more. */
const FIRST = 48;

/**
 * What depends on what: one thing, and the others that it is tied to, each with its state. Many are put into groups that open. A broken
 * line: a change reloads nothing.
 */
export function Picture({ hub, spokes, sentence }: PictureProps): JSX.Element {
  const [by, setBy] = useState<Grouping>('state');
  return (
    <figure class="picture">
      {isCrowded(spokes) ? <GroupingChoice by={by} choose={setBy} /> : null}
      <div class="tree">
        <div class="hub node">
          <span class="kind">{hub.kind}</span>
          <span class="name">{hub.name}</span>
        </div>
        <ul class="spokes">
          {isCrowded(spokes)
            ? spokeGroups(spokes, by).map((group) => (
                <Group key={group.key} group={group} hub={hub} by={by} />
              ))
            : sortedSpokes(spokes).map((spoke) => <Alone key={keyOf(spoke.ref)} spoke={spoke} hub={hub} />)}
        </ul>
      </div>
      <figcaption>{sentence}</figcaption>
    </figure>
  );
}

function GroupingChoice({ by, choose }: { by: Grouping; choose: (by: Grouping) => void }): JSX.Element {
  return (
    <fieldset class="grouping">
      <legend class="unseen">Group by</legend>
      <span aria-hidden="true">Group by</span>
      {(Object.keys(GROUPINGS) as Grouping[]).map((each) => (
        <label key={each}>
          <input type="radio" name="grouping" checked={by === each} onChange={() => choose(each)} />{' '}
          {GROUPINGS[each].toLowerCase()}
        </label>
      ))}
    </fieldset>
  );
}

function Alone({ spoke, hub }: { spoke: Spoke; hub: Ref }): JSX.Element {
  const look = DEPENDENCY_LOOKS[spoke.state];
  return (
    <li class={spoke.rolls ? 'rolls' : ''}>
      <a class={`node ${look.tone}`} href={hrefOfRef(spoke.ref)}>
        <span class="kind">{spoke.ref.kind}</span>
        <span class="name">{nameOf(spoke.ref, hub)}</span>
        <Badge look={look} />
      </a>
    </li>
  );
}

function Group({ group, hub, by }: { group: SpokeGroup; hub: Ref; by: Grouping }): JSX.Element {
  const { key, spokes, rolls, counts, isOpen } = group;
  const [worst] = counts;
  const tone = worst ? DEPENDENCY_LOOKS[worst[0]].tone : 'quiet';
  return (
    <li class={rolls ? 'rolls' : ''}>
      <details open={isOpen}>
        <summary class={`node ${tone}`}>
          {by === 'state' ? (
            <>
              <Badge look={DEPENDENCY_LOOKS[key as DependencyState]} count={spokes.length} />
              <span class="kind">{kindsOf(spokes)}</span>
            </>
          ) : (
            <>
              <span class="name">{counted(spokes.length, key)}</span>
              <span class="badges">
                {counts.map(([state, count]) => (
                  <Badge key={state} look={DEPENDENCY_LOOKS[state]} count={count} />
                ))}
              </span>
            </>
          )}
        </summary>
        <Portion items={spokes} first={FIRST} what="in this group">
          {(shown) => (
            <ul class="members">
              {shown.map((spoke) => (
                <Member key={keyOf(spoke.ref)} spoke={spoke} hub={hub} by={by} />
              ))}
            </ul>
          )}
        </Portion>
      </details>
    </li>
  );
}

/** In a group of a state, the kind tells more; in one of a kind, the state. */
function Member({ spoke: { ref, state }, hub, by }: { spoke: Spoke; hub: Ref; by: Grouping }): JSX.Element {
  const { sign, word, tone } = DEPENDENCY_LOOKS[state];
  return (
    <li>
      <a class="member" href={hrefOfRef(ref)}>
        <span class={`badge ${tone}`}>
          <SignIcon sign={sign} />
        </span>
        <span>
          <span class="name">{nameOf(ref, hub)}</span>{' '}
          <span class="kind">{by === 'state' ? ref.kind : word.toLowerCase()}</span>
        </span>
      </a>
    </li>
  );
}

/** `12 Deployments, 1 CronJob` */
function kindsOf(spokes: readonly Spoke[]): string {
  return [...Map.groupBy(spokes, ({ ref }) => ref.kind)]
    .map(([kind, { length }]) => counted(length, kind))
    .join(', ');
}

function nameOf(ref: Ref, hub: Ref): string {
  return ref.namespace === hub.namespace ? ref.name : `${ref.namespace}/${ref.name}`;
}

function hrefOfRef({ kind, namespace, name }: Ref): string {
  return hrefOf(isSourceKind(kind) ? 'sources' : 'workloads', [kind, namespace, name]);
}
