import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { isSourceKind, type Ref } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import { layout, type Line, type Box } from './picture-layout.ts';

export interface Spoke {
  readonly ref: Ref;
  readonly rolls: boolean;
}

interface PictureProps {
  readonly hub: Ref;
  readonly spokes: readonly Spoke[];
  /** The same in a sentence; the table below has every row. */
  readonly sentence: string;
}

/** What depends on what: one thing, and the others that it is tied to. A broken line: a change rolls nothing. */
export function Picture({ hub, spokes, sentence }: PictureProps): JSX.Element {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  const id = useId();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(240, Math.floor(entry?.contentRect.width ?? 640))),
    );
    if (figure.current) observer.observe(figure.current);
    return () => observer.disconnect();
  }, []);
  const picture = layout({ width, hub, spokes, isHubLeft: isSourceKind(hub.kind) });
  return (
    <figure ref={figure} class="picture">
      <svg
        viewBox={`0 0 ${width} ${picture.height}`}
        height={picture.height}
        role="group"
        aria-labelledby={id}
      >
        {picture.lines.map((line) => (
          <Tie key={line.path} line={line} />
        ))}
        {picture.boxes.map((box) => (
          <Node key={`${box.x} ${box.y}`} box={box} />
        ))}
      </svg>
      <figcaption id={id}>{sentence}</figcaption>
    </figure>
  );
}

function Tie({ line }: { line: Line }): JSX.Element {
  return <path class={line.rolls ? 'tie rolls' : 'tie'} d={line.path} />;
}

function Node({ box }: { box: Box }): JSX.Element {
  const { x, y, width, height, ref, kind, name, isHub } = box;
  const inner = (
    <>
      <rect class={isHub ? 'node hub' : 'node'} x={x} y={y} width={width} height={height} rx={5} />
      <text class="node-kind" x={x + 10} y={y + 16}>
        {kind}
      </text>
      <text class="node-name" x={x + 10} y={y + 32}>
        {name}
      </text>
    </>
  );
  if (!ref || isHub) return <g>{inner}</g>;
  const page = isSourceKind(ref.kind) ? 'sources' : 'workloads';
  return <a href={hrefOf(page, [ref.kind, ref.namespace, ref.name])}>{inner}</a>;
}
