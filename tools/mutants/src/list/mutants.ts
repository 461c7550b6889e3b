/** All mutants. Each breaks one rule of `docs/guide/how-it-works.md` or of a decision in `docs/adr`. */
import type { Mutant } from '../mutant.ts';
import { boundMutants } from './bounds.ts';
import { catalogMutants } from './catalog.ts';
import { dependencyMutants } from './dependencies.ts';
import { holdMutants } from './holds.ts';
import { leaseMutants } from './lease.ts';
import { patchMutants } from './patch.ts';
import { pendingMutants } from './pending.ts';
import { planMutants } from './plan.ts';
import { publishingMutants } from './publishing.ts';
import { queueMutants } from './queues.ts';
import { streamMutants } from './streams.ts';
import { workerMutants } from './worker.ts';

export const mutants: readonly Mutant[] = [
  ...pendingMutants,
  ...dependencyMutants,
  ...streamMutants,
  ...leaseMutants,
  ...publishingMutants,
  ...catalogMutants,
  ...queueMutants,
  ...workerMutants,
  ...holdMutants,
  ...planMutants,
  ...patchMutants,
  ...boundMutants,
];
