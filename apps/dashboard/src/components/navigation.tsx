import type { JSX } from 'preact';
import { hrefOf, route } from '../router.ts';

const GROUPS = [
  [
    'See',
    [
      ['', 'Overview'],
      ['changes', 'Changes'],
    ],
  ],
  [
    'Objects',
    [
      ['workloads', 'Workloads'],
      ['sources', 'Sources'],
    ],
  ],
  [
    'Ask',
    [
      ['explain', 'Explain'],
      ['preview', 'Preview'],
    ],
  ],
  [
    'Steer',
    [
      ['jobs', 'Jobs'],
      ['audit', 'Audit'],
    ],
  ],
] as const;

export function Navigation({ isOpen }: { isOpen: boolean }): JSX.Element {
  const { page } = route.value;
  return (
    <nav id="pages" class={isOpen ? 'open' : ''} aria-label="Pages">
      {GROUPS.map(([group, pages]) => (
        <div key={group} class="group">
          <p id={`group-${group}`}>{group}</p>
          <ul aria-labelledby={`group-${group}`}>
            {pages.map(([each, word]) => (
              <li key={each}>
                <a href={hrefOf(each)} aria-current={each === page ? 'page' : undefined}>
                  {word}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
