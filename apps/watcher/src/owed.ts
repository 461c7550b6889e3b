import type { Ledger } from '@reroll/core/ledger/ledger';

/** What is owed: how many workloads, and for how long (ms, by sweeps) the longest has waited; 0 if none does. */
export function owedOf(ledger: Ledger, interval: number): { workloads: number; oldest: number } {
  let workloads = 0;
  let sweeps = 0;
  for (const { cause, sinceSweep } of ledger.unsettled.values()) {
    if (cause !== 'owed') continue;
    workloads += 1;
    sweeps = Math.max(sweeps, ledger.sweeps - sinceSweep);
  }
  return { workloads, oldest: sweeps * interval };
}
