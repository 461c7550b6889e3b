import { work } from '../work.ts';

/** What may be spent on patterns and rules in one go, in steps of matching; see `work`. */
const TURN_STEPS = 250_000;
/** What the rules take besides, for one pair. */
const DECISION_STEPS = 100;
/** For one name in a row that is made anew. */
const DEPENDENCY_STEPS = 10;

/** Begins a turn. What it gives says whether as much was spent since as one turn may take. */
export function turn(): () => boolean {
  const until = spent() + TURN_STEPS;
  return () => spent() >= until;
}

function spent(): number {
  return work.matchSteps + DECISION_STEPS * work.decisions + DEPENDENCY_STEPS * work.dependencyNames;
}
