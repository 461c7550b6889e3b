import { Controller } from '@nestjs/common';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { listNamespaces } from '../objects/namespace-list.ts';
import { ObjectFacts } from '../objects/object-facts.ts';

@Controller()
export class NamespacesController {
  constructor(private readonly facts: ObjectFacts) {}

  @Serves('listNamespaces')
  async list({ query, caller }: Input<'listNamespaces'>): Promise<AnswerOf<'listNamespaces'>> {
    const snapshots = await Promise.all([this.facts.workloads.snapshot(), this.facts.sources.snapshot()]);
    const places = snapshots.map((snapshot) => snapshot.places);
    return await listNamespaces(query, places, await NamespacesAsked.of(caller));
  }
}
