import { Controller } from '@nestjs/common';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { Serves } from '../http/serves.ts';
import { listNamespaces } from '../objects/namespace-list.ts';
import { ObjectFacts } from '../objects/object-facts.ts';

const NAMESPACE = /^[-a-z0-9]{1,63}$/u;

@Controller()
export class NamespacesController {
  constructor(
    private readonly cursors: Cursors,
    private readonly facts: ObjectFacts,
  ) {}

  @Serves('listNamespaces')
  async list({ query, caller }: Input<'listNamespaces'>): Promise<AnswerOf<'listNamespaces'>> {
    const after = this.cursors.read(query.cursor, NAMESPACE);
    const snapshots = await Promise.all([this.facts.workloads.snapshot(), this.facts.sources.snapshot()]);
    const places = snapshots.map((snapshot) => snapshot.places);
    const { items, last } = await listNamespaces(
      { ...query, after },
      places,
      await NamespacesAsked.of(caller),
    );
    return { items: [...items], next: this.cursors.next(last) };
  }
}
