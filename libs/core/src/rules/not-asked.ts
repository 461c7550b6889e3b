import type { PatternError } from '../patterns/patterns.ts';
import type { Facts } from './facts.ts';
import { skip, type Opinion } from './rule.ts';

/** The answer if no rule has an opinion. */
export function notAsked({ source, typed, readFrom }: Facts, unusable: readonly PatternError[]): Opinion {
  const [first] = unusable;
  if (!first)
    return skip('NotAnnotated', () => `nothing asks for a reload for ${source.kind} ${source.name}`);
  const detail = () =>
    `${JSON.stringify(first.pattern)} in ${typed.reload} of the ${readFrom}: ${first.error}`;
  return skip('InvalidPattern', detail);
}
