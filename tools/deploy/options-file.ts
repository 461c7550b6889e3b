import { defaultText } from '../../libs/shared/src/platform/options/option.ts';
import { chartValues, leavesOf } from './values-comments.ts';

const HEAD = `# Generated from values.yaml and the table of options: run \`node tools/docs/generate.ts\`.
# What the templates turn into an argument, or if it is a credential into a variable, unless it is empty or the default.
options:
`;

/** deploy/helm/reroll/options.yaml. JSON, one option a line, is YAML too. */
export function optionsFile(): string {
  const lines = leavesOf(chartValues()).flatMap(({ path, option }) => {
    if (option === undefined) return [];
    const { flag, env, form, apps, sensitive = false } = option;
    return [{ value: path, flag, env, form, default: defaultText(option), apps, sensitive }];
  });
  return HEAD + lines.map((line) => `  - ${JSON.stringify(line)}\n`).join('');
}
