import { Controller } from '@nestjs/common';
import { History, type StreamEntry } from '@reroll/redis/history/history';
import type { AuditEntry } from '@reroll/core/history/entries';
import type { Caller } from '../auth/caller.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { Serves } from '../http/serves.ts';
import { auditView, seesAudit } from '../steering/audit-view.ts';

/** The id of an entry in the stream. */
const POSITION = /^\d{1,15}-\d{1,10}$/u;
/** Entries read for one page. If few of them match, the page is short and has a `next`. */
const PORTION = 200;
const MOST_READ = 2_000;

@Controller()
export class AuditController {
  constructor(
    private readonly cursors: Cursors,
    private readonly history: History,
  ) {}

  @Serves('listAudit')
  async list({ query, caller }: Input<'listAudit'>): Promise<AnswerOf<'listAudit'>> {
    const wanted = await wantedBy(caller, query);
    const since = query.since === undefined ? 0 : Date.parse(query.since);
    const items: StreamEntry<AuditEntry>[] = [];
    let before = this.cursors.read(query.cursor, POSITION);
    for (let read = 0; read < MOST_READ; read += PORTION) {
      const portion = await this.history.earlier('audit', { before, count: PORTION });
      for (const each of portion) {
        if (each.entry.at < since) return this.#page(items, undefined);
        const isWanted = await wanted(each.entry);
        if (isWanted === undefined) return this.#page(items, before);
        if (isWanted) items.push(each);
        before = each.id;
        if (items.length === query.limit) return this.#page(items, before);
      }
      if (portion.length < PORTION) return this.#page(items, undefined);
    }
    return this.#page(items, before);
  }

  #page(items: readonly StreamEntry<AuditEntry>[], last: string | undefined): AnswerOf<'listAudit'> {
    return { items: items.map(auditView), next: this.cursors.next(last) };
  }
}

/** Returns undefined if too many namespaces were asked about. */
async function wantedBy(
  caller: Caller,
  { actor }: { actor?: string | undefined },
): Promise<(entry: AuditEntry) => Promise<boolean | undefined>> {
  const namespaces = await NamespacesAsked.of(caller);
  return async (entry) =>
    actor === undefined || entry.actor === actor ? await seesAudit(caller, namespaces, entry) : false;
}
