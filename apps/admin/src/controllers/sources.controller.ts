import { Controller } from '@nestjs/common';
import type { HistoryEntry } from '@reroll/shared/api/workloads';
import type { HistoryJoin, Pair } from '@reroll/core/history/join';
import { keyOf, partsOf, type SourceId, type SourceKey } from '@reroll/core/model';
import { visibility, type Caller } from '../auth/caller.ts';
import { Consumers } from '../consumers/consumers.ts';
import { LiveStates } from '../history/live-states.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { ReadModel } from '../history/read-model.ts';
import { pairView } from '../history/views.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { ObjectFacts, type SourceFacts } from '../objects/object-facts.ts';
import { listSources, PLACE } from '../objects/object-lists.ts';
import { dependencySteps, rolledSteps, sourceSummary } from '../objects/object-views.ts';
import { WavePlans } from '../objects/wave-plans.ts';
import { ShownHashes } from '../shown-hashes.ts';
import { mustSee } from '../steering/must.ts';
import { inTurns } from '../why/in-turns.ts';
import { LongAnswers } from '../why/long-answers.ts';
import { noSettings } from '../why/no-settings.ts';

const MOST_HISTORY = 50;

@Controller()
export class SourcesController {
  constructor(
    private readonly cursors: Cursors,
    private readonly model: ReadModel,
    private readonly facts: ObjectFacts,
    private readonly live: LiveStates,
    private readonly hashes: ShownHashes,
    private readonly consumers: Consumers,
    private readonly wavePlans: WavePlans,
    private readonly long: LongAnswers,
  ) {}

  @Serves('listSources')
  async list(input: Input<'listSources'>): Promise<AnswerOf<'listSources'>> {
    return await this.long.make(input, (signal) => this.page(input, signal));
  }

  private async page(
    { query, caller }: Input<'listSources'>,
    signal: AbortSignal,
  ): Promise<AnswerOf<'listSources'>> {
    const after = this.cursors.read(query.cursor, PLACE);
    const namespaces = new NamespacesAsked(await visibility(caller));
    const { items, last } = await listSources(query, after, { facts: this.facts, namespaces });
    const { join } = this.model.contents;
    const { shown } = this.hashes;
    const rolled = await inTurns(rolledSteps(items), signal);
    return {
      items: items.map((item) => sourceSummary(item, { join, shown, rolled })),
      next: this.cursors.next(last),
    };
  }

  @Serves('getSource')
  async get(input: Input<'getSource'>): Promise<AnswerOf<'getSource'>> {
    return await this.long.make(input, (signal) => this.detail(input, signal));
  }

  private async detail(
    { params, caller }: Input<'getSource'>,
    signal: AbortSignal,
  ): Promise<AnswerOf<'getSource'>> {
    const found = await this.known(params, caller);
    const { join } = this.model.contents;
    const settings = await this.facts.settings();
    if (!settings) throw noSettings();
    const { key, row, users } = found;
    const { shown } = this.hashes;
    const pairs = [...users].map(([workload, userRow]) => ({
      workload: { key: workload, row: userRow },
      source: { key, row },
    }));
    const steps = dependencySteps(
      pairs,
      ({ workload }, view) => ({ workload: partsOf(workload.key), ...view }),
      { settings, shown, join },
    );
    const rolled = await inTurns(rolledSteps([found]), signal);
    return {
      ...sourceSummary(found, { join, shown, rolled }),
      annotations: { ...row?.annotations },
      workloadsInDetail: await inTurns(steps, signal),
      history: await this.history(key, join),
    };
  }

  @Serves('getConsumers')
  async consumersOf({
    params,
    caller,
    request,
    gone,
  }: Input<'getConsumers'>): Promise<AnswerOf<'getConsumers'>> {
    await this.known(params, caller);
    return await this.consumers.of(params, { name: caller.name, request, gone });
  }

  @Serves('getWaves')
  async waves({ params, caller }: Input<'getWaves'>): Promise<AnswerOf<'getWaves'>> {
    await mustSee(caller, params.namespace);
    const key = keyOf(params);
    // Not of its workloads: they are read at most once a second, however many ask.
    const row = (await this.facts.sourceRows([key])).get(key);
    if (!row) throw new ProblemError('NotFound');
    const settings = await this.facts.settings();
    if (!settings) throw noSettings();
    return await this.wavePlans.of({ key, row }, settings);
  }

  /** Rejects with `NotFound` also if the caller may not see it. */
  private async known(id: SourceId, caller: Caller): Promise<SourceFacts> {
    const { sees } = await visibility(caller);
    const key = keyOf(id);
    const [found] = (await sees(id.namespace)) ? await this.facts.sourceFacts([key]) : [];
    const { join } = this.model.contents;
    // A deleted source is shown while a workload needs it or the history has it.
    if (!found || (!found.row && found.users.size === 0 && join.changesOf(key).length === 0))
      throw new ProblemError('NotFound');
    return found;
  }

  /** The results of its latest changes, newest first. */
  private async history(key: SourceKey, join: HistoryJoin): Promise<HistoryEntry[]> {
    const pairs: Pair[] = [];
    for (const change of join.changesOf(key).toReversed()) {
      // Others have no result to show, and leave room for earlier ones that have.
      pairs.push(...change.pairs.filter(({ verdict, outcome }) => verdict === 'reload' && outcome));
      if (pairs.length >= MOST_HISTORY) break;
    }
    await this.live.look(join, pairs.slice(0, MOST_HISTORY));
    return pairs
      .slice(0, MOST_HISTORY)
      .map(pairView)
      .filter((entry) => entry !== undefined);
  }
}
