import type { JSX } from 'preact';
import { isSourceKind, type Ref } from '../names.ts';
import { hrefOf } from '../router.ts';

/** A link to the page of a workload or a source. */
export function RefLink({ of, full = true }: { of: Ref; full?: boolean }): JSX.Element {
  const page = isSourceKind(of.kind) ? 'sources' : 'workloads';
  return (
    <a class="ref" href={hrefOf(page, [of.kind, of.namespace, of.name])}>
      <span class="kind">{of.kind}</span>
      <span class="name">{full ? `${of.namespace}/${of.name}` : of.name}</span>
    </a>
  );
}

/** A key of Redis or of a job: a link if it is the key of something that has a page. */
export function KeyLink({ of }: { of: string | null }): JSX.Element {
  if (of === null) return <span class="muted">–</span>;
  const [kind = '', namespace = '', name = '', ...rest] = of.split('/');
  if (name === '' || rest.length > 0) return <span>{of}</span>;
  return <RefLink of={{ kind, namespace, name }} />;
}
