import { DEPENDENCY_LOOKS } from '../../dependency-state.ts';
import { hrefOf } from '../../router.ts';
import { counted, type Look } from '../../words.ts';
import { PROBLEM_LOOKS, PROBLEMS, type Problem } from './attention-items.ts';
import type { InstallState } from './install-state.ts';

/** A number of the sentence, and where a list has what it counts: of problems, on the same page. */
export interface Part {
  readonly count: number;
  /** `stuck` */
  readonly word: string;
  readonly href: string;
}

export interface Verdict {
  readonly tone: Look['tone'];
  readonly sign: Look['sign'];
  /** `2 need attention`; empty: nothing does. */
  readonly attention: string;
  readonly problems: readonly Part[];
  /** `3 in progress`; empty: nothing is. */
  readonly progress: string;
  readonly steps: readonly Part[];
  /** `4 workloads may have older data`; empty: none is stale since adoption. */
  readonly older: string;
  readonly stale: readonly Part[];
  /** Whether nothing was left out: only then may the sentence say that nothing needs attention. */
  readonly isWhole: boolean;
}

function wordOf(problem: Problem, count: number): string {
  if (problem === 'warning') return count === 1 ? 'warning' : 'warnings';
  return problem === 'conflict' ? 'in conflict' : problem;
}

/**
 * The parts of the sentence that answers whether everything is all right.
 *
 * @param isCut whether lists go on beyond what was counted
 * @param isOld whether a part of the last check failed, so that it is left out, or of an earlier one
 */
export function verdictOf(state: InstallState, isCut: boolean, isOld = false): Verdict {
  const { attention, rollingOut, pending } = state;
  const isWhole = !isCut && !isOld;
  const number = (count: number): string => `${count.toLocaleString('en')}${isCut ? ' or more' : ''}`;
  const problems = PROBLEMS.flatMap((problem) => {
    const count = attention.filter((item) => item.problem === problem).length;
    return count === 0 ? [] : [{ count, word: wordOf(problem, count), href: hrefOf('', [], { problem }) }];
  });
  const steps = [
    { count: rollingOut, word: 'rolling out', href: hrefOf('workloads', [], { rollout: 'progressing' }) },
    { count: pending, word: 'pending', href: hrefOf('workloads', [], { due: 'owed' }) },
  ];
  const moving = rollingOut + pending;
  return {
    ...toneOf(state, isWhole),
    isWhole,
    attention:
      attention.length === 0
        ? ''
        : `${number(attention.length)} ${attention.length === 1 ? 'needs' : 'need'} attention`,
    problems,
    progress: moving === 0 ? '' : `${number(moving)} in progress`,
    steps: steps.filter(({ count }) => count > 0),
    ...staleWords(state),
  };
}

/** No error: nothing is known to be wrong with them, and no reload is pending. That their list is cut makes the others no less whole. */
function staleWords({ stale, isStaleCut }: InstallState): Pick<Verdict, 'older' | 'stale'> {
  if (stale === 0) return { older: '', stale: [] };
  const count = isStaleCut ? `${stale.toLocaleString('en')} or more workloads` : counted(stale, 'workload');
  const href = hrefOf('workloads', [], { due: 'stale' });
  return {
    older: `${count} may have older data`,
    stale: [{ count: stale, word: 'stale since adoption', href }],
  };
}

function toneOf(
  { attention, rollingOut, pending, stale }: InstallState,
  isWhole: boolean,
): Pick<Verdict, 'tone' | 'sign'> {
  if (attention.some(({ problem }) => PROBLEM_LOOKS[problem].tone === 'bad'))
    return { tone: 'bad', sign: 'alert' };
  if (attention.length > 0) return { tone: 'warn', sign: 'alert' };
  if (rollingOut + pending > 0) return { tone: 'busy', sign: 'half' };
  if (stale > 0) return { tone: DEPENDENCY_LOOKS.stale.tone, sign: 'ring' };
  return isWhole ? { tone: 'good', sign: 'check' } : { tone: 'quiet', sign: 'ring' };
}
