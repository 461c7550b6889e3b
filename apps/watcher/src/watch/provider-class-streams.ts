import { labelSelectorText } from '@reroll/core/label-selector';
import { isWithin, type Scope } from '@reroll/core/state/listed';
import { observeSource } from '@reroll/core/state/observe';
import type { ObservedSource, SourceRow } from '@reroll/core/state/rows';
import type { SourceKey } from '@reroll/core/model';
import { STATUS_KIND, observeStatus, type SeenStatus } from '@reroll/core/provider-class/observe-status';
import { ProviderClasses } from '@reroll/core/provider-class/provider-classes';
import { isServed } from '@reroll/kube/discovery';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import {
  SECRET_PROVIDER_CLASSES,
  SECRET_PROVIDER_CLASS_POD_STATUSES,
} from '@reroll/kube/sources/secret-provider-class';
import { deafAfter } from './deaf-after.ts';
import type { Into, StreamsContext } from './kind-streams.ts';
import { OptionalStream } from './optional-stream.ts';
import { namespaceSelector } from './scope.ts';
import type { Stream } from './stream-group.ts';
import { WholeList, type WholeListFeed } from './whole-list.ts';

const KIND = 'SecretProviderClass';

/** SecretProviderClasses and the statuses of the pods that mount them, while the API server has both. */
export function providerClassStream(
  { client, options, log }: StreamsContext,
  intoOf: (namespace: string) => Into,
): OptionalStream {
  return new OptionalStream({
    isServed: async (signal) =>
      (await isServed(client, SECRET_PROVIDER_CLASSES, { signal })) &&
      (await isServed(client, SECRET_PROVIDER_CLASS_POD_STATUSES, { signal })),
    open: (namespace, onMissing) => {
      const into = intoOf(namespace);
      return streamsOf({ ...into, reports: into.reports.andWhenMissing(onMissing) });
    },
    // What was known stays: a removed CRD tells nothing of the versions that pods run with.
    gone: async () => undefined,
    interval: options.discoveryInterval,
    log: log.child({ kind: KIND }),
  });
}

/** The classes first: statuses count only when it is known which classes are to be ignored. */
function streamsOf(into: Into): Stream[] {
  const { client, reports, decision, namespace } = into;
  const classes = new ProviderClasses();
  const known = Promise.withResolvers<void>();
  into.ended.addEventListener('abort', () => known.resolve(), { once: true });
  const scope = { kind: KIND, namespace };
  const fieldSelector = namespaceSelector(into, namespace);
  const { resourceLabelSelector: labels } = into.options;
  const path = (resource: typeof SECRET_PROVIDER_CLASSES): string =>
    collectionPath(resource, namespace === '' ? undefined : namespace);
  return [
    new Reflector<ObservedSource>({
      client,
      path: path(SECRET_PROVIDER_CLASSES),
      fieldSelector,
      convert: ({ metadata }) => observeSource({ kind: KIND, metadata, data: {} }, decision.keys, []),
      handler: new WholeList(classFeed(into, scope, { classes, onListed: known.resolve })),
      hooks: reports.hooks(KIND, namespace),
    }),
    new Reflector<SeenStatus>({
      client,
      path: path(SECRET_PROVIDER_CLASS_POD_STATUSES),
      fieldSelector,
      labelSelector: labels && labelSelectorText(labels),
      convert: (raw) => observeStatus(raw, into.hashKeys),
      handler: new WholeList(statusFeed(into, scope, { classes, known: known.promise })),
      hooks: reports.hooks(STATUS_KIND, namespace),
    }),
  ];
}

function classFeed(
  into: Into,
  scope: Scope,
  { classes, onListed }: { classes: ProviderClasses; onListed: () => void },
): WholeListFeed<ObservedSource> {
  const tell = deafAfter(into.ended, (seen: ObservedSource) => into.clusterState.sourceWritten(seen, scope));
  return {
    kind: KIND,
    listed: ({ objects, unread }) => {
      classes.classesListed(objects, unread).forEach(tell);
      onListed();
      return Promise.resolve();
    },
    written: (seen) => tellIfKnown(classes.classWritten(seen), tell),
    deleted: ({ key }) => classes.classDeleted(key),
    // Not counted: stakater/Reloader follows the statuses alone.
    told: () => into.changed(),
  };
}

function statusFeed(
  into: Into,
  scope: Scope,
  { classes, known }: { classes: ProviderClasses; known: Promise<void> },
): WholeListFeed<SeenStatus> {
  const { clusterState, reports, changed, ended } = into;
  const tell = deafAfter(ended, (seen: ObservedSource) => clusterState.sourceWritten(seen, scope));
  let isFirst = !into.entering;
  return {
    kind: STATUS_KIND,
    listed: async ({ rv, objects, unread }) => {
      await known;
      if (ended.aborted) return;
      const catalog = isFirst ? await catalogRows(into, scope) : new Map<SourceKey, SourceRow>();
      if (ended.aborted) return;
      const rows = new Map([...catalog, ...clusterStateRows(into, scope)]);
      const { listed, advanced } = classes.statusesListed({ statuses: objects, unread, rows });
      clusterState.sourcesListed({ scope, rv, objects: listed, catalog });
      advanced.forEach(tell);
      isFirst = false;
    },
    written: (seen) => tellIfKnown(classes.statusWritten(seen), tell),
    deleted: (seen) => classes.statusDeleted(seen),
    told: (type) => {
      reports.received(KIND, type);
      changed();
    },
  };
}

/** Needed at the first list only: after that the cluster state knows better. */
async function catalogRows({ catalog }: Into, scope: Scope): Promise<Map<SourceKey, SourceRow>> {
  const rows = new Map<SourceKey, SourceRow>();
  for await (const portion of catalog.eachSource((key) => isWithin(scope, key))) {
    for (const [key, row] of portion) rows.set(key, row);
  }
  return rows;
}

function clusterStateRows({ clusterState }: Into, scope: Scope): [SourceKey, SourceRow][] {
  return [...clusterState.sourcesIn(scope)].flatMap((key): [SourceKey, SourceRow][] => {
    const row = clusterState.sources.get(key);
    return row && isWithin(scope, key) ? [[key, row]] : [];
  });
}

function tellIfKnown(seen: ObservedSource | undefined, tell: (seen: ObservedSource) => void): void {
  if (seen) tell(seen);
}
