import { Controller } from '@nestjs/common';
import { sourcesOf } from '@reroll/core/explain/preview-workload';
import type { HistoryJoin } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import { millisecondsOf } from '@reroll/core/history/stream-id';
import { keyOf, partsOf } from '@reroll/core/model';
import { visibility } from '../auth/caller.ts';
import { isNewJob } from '../history/failures.ts';
import { LiveStates } from '../history/live-states.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { ReadModel } from '../history/read-model.ts';
import { ReloadJobs } from '../history/reload-jobs.ts';
import { outcomeView, rolloutView } from '../history/views.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { ObjectFacts, type WorkloadFacts } from '../objects/object-facts.ts';
import { hasFailed, listed, listWorkloads, PLACE } from '../objects/object-lists.ts';
import { annotationsView, dependencySteps, workloadSummary } from '../objects/object-views.ts';
import { ShownHashes } from '../shown-hashes.ts';
import { timeOf } from '../time-of.ts';
import { inTurns } from '../why/in-turns.ts';
import { LongAnswers } from '../why/long-answers.ts';
import { noSettings } from '../why/no-settings.ts';

/** History entries in the answer about one object; the list of changes has the rest. */
const MOST_HISTORY = 50;

type WorkloadView = AnswerOf<'getWorkload'>;

@Controller()
export class WorkloadsController {
  constructor(
    private readonly cursors: Cursors,
    private readonly model: ReadModel,
    private readonly facts: ObjectFacts,
    private readonly jobs: ReloadJobs,
    private readonly live: LiveStates,
    private readonly hashes: ShownHashes,
    private readonly long: LongAnswers,
  ) {}

  @Serves('listWorkloads')
  async list({ query, caller }: Input<'listWorkloads'>): Promise<AnswerOf<'listWorkloads'>> {
    const after = this.cursors.read(query.cursor, PLACE);
    const namespaces = new NamespacesAsked(await visibility(caller));
    const { join } = this.model.contents;
    const by = { facts: this.facts, jobs: this.jobs, join, namespaces };
    const { items, last } = await listWorkloads(query, after, by);
    const failed = items.filter(({ key, due }) => hasFailed(join, { key, due }));
    const jobs = await this.jobs.of(failed.map(({ key }) => key));
    return {
      items: items.map((item) => workloadSummary(item, { join, jobs })),
      next: this.cursors.next(last),
    };
  }

  @Serves('getWorkload')
  async get(input: Input<'getWorkload'>): Promise<WorkloadView> {
    return await this.long.make(input, (signal) => this.detail(input, signal));
  }

  private async detail({ params, caller }: Input<'getWorkload'>, signal: AbortSignal): Promise<WorkloadView> {
    const { all, sees } = await visibility(caller);
    const key = keyOf(params);
    const workload = (await sees(params.namespace)) ? await this.facts.workloadFacts(key) : undefined;
    if (!workload) throw new ProblemError('NotFound');
    const { join } = this.model.contents;
    const [jobs] = await Promise.all([
      this.jobs.of([key]),
      this.live.look(join, join.workload(key)?.pairs ?? []),
    ]);
    const sourcesInDetail = await this.sources(workload, signal);
    const { row, rollout } = workload;
    const job = jobs.get(key);
    const outcomes = (join.workload(key)?.outcomes ?? []).slice(-MOST_HISTORY).reverse();
    return {
      ...workloadSummary(listed(workload), { join, jobs }),
      generation: row.generation,
      ...annotationsView(row),
      sourcesInDetail,
      // A job that only looks again is told by `hold`.
      job: isNewJob(job) ? reloadJobView(job) : null,
      rolloutInDetail: rollout
        ? rolloutView(rollout)
        : { state: 'complete', code: 'Complete', generation: row.generation, conditions: [] },
      history: outcomes.map(outcomeView),
      ...historyFrom(join, all, params.namespace),
    };
  }

  private async sources(
    workload: WorkloadFacts,
    signal: AbortSignal,
  ): Promise<WorkloadView['sourcesInDetail']> {
    const settings = await this.facts.settings();
    if (!settings) throw noSettings();
    const keys = sourcesOf(workload, settings.decision.keys);
    const rows = await this.facts.sourceRows(keys);
    const { shown } = this.hashes;
    const pairs = keys.map((key) => ({ workload, source: { key, row: rows.get(key) } }));
    const steps = dependencySteps(pairs, ({ source }, view) => ({ source: partsOf(source.key), ...view }), {
      settings,
      shown,
      join: this.model.contents.join,
    });
    return await inTurns(steps, signal);
  }
}

/** As in the status, only for callers who see all of it. */
function historyFrom(
  join: HistoryJoin,
  seesAll: boolean,
  namespace: string,
): Pick<WorkloadView, 'historyFrom'> {
  const [oldest] = join.outcomes;
  if (!oldest || !seesAll) return {};
  return { historyFrom: timeOf(Math.max(millisecondsOf(oldest.id), join.outcomesFrom(namespace))) };
}

function reloadJobView({ id, state, until, made }: LiveJob): WorkloadView['job'] {
  return {
    id: `reloads:${id}`,
    state,
    until: until === null ? null : timeOf(until),
    attempts: made,
  };
}
