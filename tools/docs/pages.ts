import { reasonsMarkdown } from '@reroll/core/reasons';
import { imagesFile } from '../deploy/values/images-file.ts';
import { KUSTOMIZE_FILES } from '../deploy/kustomize/files.ts';
import { mapsFile } from '../deploy/values/maps-file.ts';
import { optionsFile } from '../deploy/values/options-file.ts';
import { valuesSchema } from '../deploy/values/values-schema.ts';
import { chartReadme } from '../deploy/values/values-table.ts';
import { cliMarkdown } from './cli-page.ts';
import { comparisonPlot } from './comparison-plot.ts';
import { metricsMarkdown } from './metrics-page.ts';
import { optionsMarkdown } from './options-page.ts';

/** A page of the documentation that is written from the code. */
export interface Page {
  /** From the project's root. */
  readonly path: string;
  readonly render: () => string | Promise<string>;
}

/** To generate another page, add it here. */
export const PAGES: readonly Page[] = [
  { path: 'docs/reference/reasons.md', render: reasonsMarkdown },
  { path: 'docs/reference/options.md', render: optionsMarkdown },
  { path: 'docs/reference/metrics.md', render: metricsMarkdown },
  { path: 'docs/reference/cli.md', render: cliMarkdown },
  { path: 'docs/images/comparison.svg', render: comparisonPlot },
  { path: 'deploy/helm/reroll/maps.json', render: mapsFile },
  { path: 'deploy/helm/reroll/options.json', render: optionsFile },
  { path: 'deploy/helm/reroll/values.schema.json', render: valuesSchema },
  { path: 'deploy/helm/reroll/README.md', render: chartReadme },
  // Rendered from the chart, so after what the chart consists of.
  { path: 'deploy/helm/reroll/images.txt', render: imagesFile },
  ...KUSTOMIZE_FILES,
];
