import type { ComponentChildren, JSX } from 'preact';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** `wide`: takes what is left; `tight`: as narrow as its text. */
  readonly width?: 'wide' | 'tight';
}

interface TableProps<Row> {
  /** Read out before the table; not shown. */
  readonly caption: string;
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What is said when there are none. */
  readonly empty: ComponentChildren;
  /** Few and narrow columns: a table on a phone, too. */
  readonly isCompact?: boolean;
}

/**
 * A table that becomes a list of cards on a phone. The roles are written out, because a table that is laid out otherwise
 * is none to a screen reader.
 */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, empty, isCompact = false } = props;
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <table role="table" class={isCompact ? 'compact' : 'cards'}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ header }) => (
            <th key={header} role="columnheader" scope="col">
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map((column, index) => (
              <Cell key={column.header} column={column} row={row} isFirst={index === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<Row>(props: { column: Column<Row>; row: Row; isFirst: boolean }): JSX.Element {
  const { column, row, isFirst } = props;
  const content = <div class="content">{column.cell(row)}</div>;
  if (isFirst) {
    return (
      <th role="rowheader" scope="row" class={column.width} data-label={column.header}>
        {content}
      </th>
    );
  }
  return (
    <td role="cell" class={column.width} data-label={column.header}>
      {content}
    </td>
  );
}
