import type { PatternError } from '../patterns/patterns.ts';
import { unreadableAuto } from './auto-reload.ts';
import type { Facts } from './facts.ts';
import { skip, type Opinion } from './rule.ts';

/** The answer if no rule has an opinion. */
export function notAsked(facts: Facts, unusable: readonly PatternError[]): Opinion {
  const { source, typed, readFrom } = facts;
  const [first] = unusable;
  if (!first)
    return skip('NotAnnotated', () => {
      const unreadable = unreadableAuto(facts);
      const because = unreadable === undefined ? '' : `: ${unreadable}`;
      return `nothing asks for a reload for ${source.kind} ${source.name}${because}`;
    });
  const detail = () =>
    `${JSON.stringify(first.pattern)} in ${typed.reload} of the ${readFrom}: ${first.error}`;
  return skip('InvalidPattern', detail);
}
