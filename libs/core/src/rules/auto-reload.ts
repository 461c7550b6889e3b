import { parseGoBool } from '../annotations/annotation-keys.ts';
import type { Facts } from './facts.ts';
import { pass, reloadIfUsed, type RuleAnswer } from './rule.ts';

/** Either annotation suffices: `auto: "false"` does not override the annotation for the source's kind. */
export function autoReload(facts: Facts): RuleAnswer {
  const { settings, typed, readFrom } = facts;
  const answers = answersOf(facts);
  const on = answers.find(({ value }) => parseGoBool(value) === true);
  if (on) return reloadIfUsed('AutoReload', () => `the ${readFrom} has ${told(on)}`);
  return pass(() =>
    answers.length === 0
      ? `the ${readFrom} has neither ${settings.keys.auto} nor ${typed.auto}`
      : `the ${readFrom} has ${answers.map(told).join(' and ')}`,
  );
}

/** What is wrong with the values of the annotations, for users; undefined if each is a boolean. */
export function unreadableAuto(facts: Facts): string | undefined {
  const unreadable = answersOf(facts).filter(({ value }) => parseGoBool(value) === undefined);
  return unreadable.length === 0
    ? undefined
    : `the ${facts.readFrom} has ${unreadable.map(told).join(' and ')}`;
}

interface Answer {
  readonly key: string;
  readonly value: string;
}

function answersOf({ settings, typed, auto, typedAuto }: Facts): Answer[] {
  return [
    ...(auto === undefined ? [] : [{ key: settings.keys.auto, value: auto }]),
    ...(typedAuto === undefined ? [] : [{ key: typed.auto, value: typedAuto }]),
  ];
}

function told({ key, value }: Answer): string {
  const text = `${key}: ${JSON.stringify(value)}`;
  return parseGoBool(value) === undefined ? `${text} (expected true or false)` : text;
}
