import { Controller } from '@nestjs/common';
import { History } from '@reroll/redis/history/history';
import { visibility } from '../auth/caller.ts';
import { listChanges } from '../history/change-list.ts';
import { LiveStates } from '../history/live-states.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { ReadModel } from '../history/read-model.ts';
import { changeSummary, changeView } from '../history/views.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { ShownHashes } from '../shown-hashes.ts';

const CHANGE_ID = /^\d{1,15}-\d{1,10}$/u;

@Controller()
export class ChangesController {
  constructor(
    private readonly cursors: Cursors,
    private readonly model: ReadModel,
    private readonly live: LiveStates,
    private readonly history: History,
    private readonly hashes: ShownHashes,
  ) {}

  @Serves('listChanges')
  async list({ query, caller }: Input<'listChanges'>): Promise<AnswerOf<'listChanges'>> {
    const before = this.cursors.read(query.cursor, CHANGE_ID);
    const { join } = this.model.contents;
    const namespaces = new NamespacesAsked(await visibility(caller));
    const look = (pairs: Parameters<LiveStates['look']>[1]) => this.live.look(join, pairs);
    const { items, last } = await listChanges(query, before, { join, namespaces, look });
    return {
      items: items.map(({ change, stateOf }) => changeSummary(change, { hashes: this.hashes, stateOf })),
      next: this.cursors.next(last),
    };
  }

  @Serves('getChange')
  async get({ params, caller }: Input<'getChange'>): Promise<AnswerOf<'getChange'>> {
    const { join } = this.model.contents;
    const change = join.change(params.id);
    const { sees } = await visibility(caller);
    if (!change || !(await sees(change.namespace))) throw new ProblemError('NotFound');
    const live = await this.live.look(join, change.pairs);
    const counted = (change.more?.woken ?? 0) > 0 ? await this.history.tally(change) : undefined;
    return changeView(change, { hashes: this.hashes, live, join, counted });
  }
}
