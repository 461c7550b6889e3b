import type { JSX } from 'preact';
import { isSourceKind, keyOf, spoken, type Ref } from '../names.ts';
import { hrefOf } from '../router.ts';

/** A link to the page of a workload or a source. */
export function RefLink({ of }: { of: Ref }): JSX.Element {
  const page = isSourceKind(of.kind) ? 'sources' : 'workloads';
  return (
    <a class="ref" href={hrefOf(page, [of.kind, of.namespace, of.name])}>
      <span class="kind">{of.kind}</span> <span class="name">{`${of.namespace}/${of.name}`}</span>
    </a>
  );
}

/** `Kind/namespace/name`, maybe after the id of a job or of what is pending, as in the audit log. */
const KEY = /^(?<id>\S+ )?(?<kind>\w+)\/(?<namespace>[^/\s]+)\/(?<name>[^/\s]+)$/;

/** A key of Redis or of a job: a link if it is the key of something that has a page. */
export function KeyLink({ of }: { of: string | null }): JSX.Element {
  if (of === null) return <span class="muted">–</span>;
  const { id = '', kind, namespace, name } = KEY.exec(of)?.groups ?? {};
  if (kind === undefined || namespace === undefined || name === undefined) return <span>{of}</span>;
  return (
    <>
      {id}
      <RefLink of={{ kind, namespace, name }} />
    </>
  );
}

/** A link to the rules for a workload and a source, on the page of one of them. */
export function ExplainLink(props: { workload: Ref; source: Ref; of: Ref }): JSX.Element {
  const { workload, source, of } = props;
  return (
    <a
      href={hrefOf('explain', [], { workload: keyOf(workload), source: keyOf(source) })}
      aria-label={`Explain ${spoken(of)}`}
    >
      Explain
    </a>
  );
}
