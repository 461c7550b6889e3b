import type { JSX } from 'preact';

/** Keys and values, as they stand in the cluster. */
export function AnnotationList(props: {
  annotations: Readonly<Record<string, string>>;
  empty: string;
}): JSX.Element {
  const entries = Object.entries(props.annotations);
  if (entries.length === 0) return <p class="empty">{props.empty}</p>;
  return (
    <dl class="annotations">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>
            <code>{key}</code>
          </dt>
          <dd>
            <code>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
