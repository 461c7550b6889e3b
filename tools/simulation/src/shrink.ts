/** Makes a failing run smaller: leaves out steps as long as it fails in the same way. */
import type { Plan } from './plan.ts';
import { runPlan, type Result } from './run.ts';

export async function shrink(failing: Result): Promise<Result> {
  const kinds = new Set(failing.violations.map(({ kind }) => kind));
  let best = failing;
  const failsToo = async (plan: Plan): Promise<boolean> => {
    const result = await runPlan(plan);
    const isSame = result.violations.some(({ kind }) => kinds.has(kind));
    if (isSame) best = result;
    return isSame;
  };
  /** Leaves out so many neighbors at a time, where that can be done. */
  const thin = async (part: 'steps' | 'before', size: number): Promise<void> => {
    let at = 0;
    while (at < best.plan[part].length) {
      const rest = best.plan[part].toSpliced(at, size);
      if (!(await failsToo({ ...best.plan, [part]: rest }))) at += size;
    }
  };
  for (let size = Math.ceil(failing.plan.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    await thin('steps', size);
    await thin('before', size);
  }
  return best;
}
