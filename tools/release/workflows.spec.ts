import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../cluster/src/run.ts';
import { instructions, ROOT } from '../deploy/images/dockerfile.ts';
import { at } from '../deploy/look.ts';
import { ensureCheckers } from '../deploy/ensure-checkers.ts';
import { CHART } from '../deploy/values/values-comments.ts';

const FOLDER = join(ROOT, '.github/workflows');
const FILES = readdirSync(FOLDER);

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly container?: unknown;
  readonly needs?: string | readonly string[];
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly defaults?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

function workflow(file: string): { readonly text: string; readonly parsed: Workflow } {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return { text, parsed: parse(text) as Workflow };
}

it('there is a workflow for every push and one for releases', () => {
  expect(FILES.sort()).toEqual(['ci.yml', 'release.yml']);
});

it('actionlint finds nothing in them', async () => {
  const { actionlint } = await ensureCheckers({ log: console.log });
  const { code, tail } = await run(actionlint, ['-no-color', ...FILES.map((file) => join(FOLDER, file))]);
  expect({ code, tail }).toEqual({ code: 0, tail: '' });
});

it.each(FILES)('%s runs actions of others at a commit only, and says of which version', (file) => {
  const uses = workflow(file).text.matchAll(/uses: (.*)$/gm);
  const others = [...uses].map(([, action = '']) => action).filter((action) => !action.startsWith('./'));
  expect(others).not.toEqual([]);
  for (const action of others) expect(action).toMatch(/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each(FILES)('%s leaves no token in a clone', (file) => {
  const steps = Object.values(workflow(file).parsed.jobs).flatMap((job) => job.steps ?? []);
  const clones = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@') === true);
  expect(clones).not.toEqual([]);
  for (const clone of clones) expect(clone.with?.['persist-credentials']).toBe(false);
});

it.each(FILES)('%s runs in images of a digest only', (file) => {
  for (const { container } of Object.values(workflow(file).parsed.jobs)) {
    if (container === undefined) continue;
    const image = String(at(container, 'image'));
    expect(image).toMatch(/@sha256:[0-9a-f]{64}$|^\$\{\{ needs\.bases\.outputs\.node \}\}$/);
  }
});

it.each(FILES)('%s may do nothing that a job does not ask for', (file) => {
  const { permissions } = workflow(file).parsed;
  expect(permissions).toBeDefined();
  expect(Object.values(permissions ?? {}).filter((each) => each === 'write')).toEqual([]);
});

it('what runs for a pull request is what runs everywhere: .ci/run', () => {
  const { steps = [] } = workflow('ci.yml').parsed.jobs['test'] ?? {};
  expect(steps.findLast(({ run: command }) => command !== undefined)?.run).toBe('.ci/run');
});

it('what is built for the specs is kept although they fail', () => {
  const { steps = [] } = workflow('ci.yml').parsed.jobs['test'] ?? {};
  const uses = (name: string) => steps.find((step) => step.uses?.startsWith(`actions/cache${name}@`));
  const [restore, save] = [uses('/restore'), uses('/save')];
  expect(uses('')).toBeUndefined();
  expect(save).toBe(steps.at(-1));
  expect(save?.if).toMatch(/^always\(\) && /);
  expect(save?.with?.['path']).toBe(restore?.with?.['path']);
});

it('ends the runs of pull requests only, and not that of a night for a push to main', () => {
  expect(workflow('ci.yml').parsed.concurrency).toEqual({
    group: 'ci-${{ github.event_name }}-${{ github.ref }}',
    'cancel-in-progress': "${{ github.event_name == 'pull_request' }}",
  });
});

describe('a release', () => {
  const { text, parsed } = workflow('release.yml');
  const folder = mkdtempSync(join(tmpdir(), 'reroll-workflows-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** As GitHub runs a step whose shell is `bash`. */
  async function runStep(id: string, at: { cwd: string; env?: Record<string, string> }) {
    const steps = Object.values(parsed.jobs).flatMap((job) => job.steps ?? []);
    const script = join(folder, 'step.sh');
    writeFileSync(script, steps.find((step) => step.id === id)?.run ?? 'exit 99');
    const { code, tail } = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], at);
    return { code, tail };
  }

  it('has the image of the chart, for both architectures, and what is in it and in the command line', () => {
    const [, image = ''] = /^ {2}IMAGE: (.*)$/m.exec(text) ?? [];
    expect(readFileSync(join(CHART, 'images.txt'), 'utf8')).toContain(`${image}:`);
    expect(text).toContain('arch: [amd64, arm64]');
    expect(text).toContain('"$IMAGE:$VERSION-amd64" "$IMAGE:$VERSION-arm64"');
    expect(text.match(/for app in [^;]*/g)).toEqual(['for app in reroll cli']);
  });

  it('builds the image with every argument of the Dockerfile', () => {
    const names = instructions().flatMap(({ name, text }) =>
      name === 'ARG' ? text.split(' ').map((each) => each.split('=')[0]) : [],
    );
    const given = [...text.matchAll(/--build-arg (\w+)/g)].map(([, name]) => name);
    expect(new Set(given)).toEqual(new Set(names));
  });

  it('publishes nothing before .ci/run has passed and tag, version and branch are right', () => {
    expect(parsed.jobs['test']?.uses).toBe('./.github/workflows/ci.yml');
    const before = (name: string): string[] =>
      [parsed.jobs[name]?.needs ?? []].flat().flatMap((each) => [each, ...before(each)]);
    for (const name of writers()) expect(before(name)).toEqual(expect.arrayContaining(['test', 'check']));
  });

  it('runs the install scripts of dependencies in no job but the tests, which hand nothing on', () => {
    const installs = jobsWith(/npm (ci|install|i|exec|rebuild)/);
    expect(installs).toEqual(['check', 'sboms']);
    const commands = text.match(/npm (ci|install|i|exec|rebuild)\b.*/g) ?? [];
    expect(commands).toHaveLength(installs.length);
    for (const command of commands) expect(command).toMatch(/^npm ci --ignore-scripts /);
    for (const name of installs) {
      expect(parsed.jobs[name]?.permissions).toEqual({ contents: 'read' });
      // Its Node.js needs no script: it is that of the base image, by digest.
      expect(parsed.jobs[name]?.container).toEqual({ image: '${{ needs.bases.outputs.node }}' });
    }
    expect(text).not.toContain('needs.test.');
    expect(workflow('ci.yml').text).not.toContain('upload-artifact');
  });

  it('hands nothing on from a job that installs dependencies but what is built from them', () => {
    for (const name of jobsWith(/npm/)) expect(text).not.toContain(`needs.${name}.`);
    for (const name of [...writers(), ...jobsWith(/imagetools/)]) expect(jobsWith(/npm/)).not.toContain(name);
  });

  function writers(): string[] {
    const found = Object.entries(parsed.jobs).filter(([, { permissions = {} }]) =>
      Object.values(permissions).includes('write'),
    );
    expect(found.map(([name]) => name)).toEqual(['image', 'images', 'chart']);
    return found.map(([name]) => name);
  }

  function jobsWith(command: RegExp): string[] {
    const runs = ({ steps = [] }: Job): string => steps.map((step) => step.run ?? '').join('\n');
    return Object.entries(parsed.jobs).flatMap(([name, job]) => (command.test(runs(job)) ? [name] : []));
  }

  it('fails where any command fails', () => {
    expect(parsed.defaults).toEqual({ run: { shell: 'bash' } });
    expect(text).not.toMatch(/(echo|export|local) .*\$\(/);
  });

  it('builds by a BuildKit and an SBOM scanner of a digest', () => {
    const images = [...text.matchAll(/(?:BUILDKIT|SCANNER): (\S+)/g)].map(([, image]) => image);
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    expect(text).toContain('--driver-opt "image=$BUILDKIT"');
    expect(text).toContain('generator=$SCANNER"');
  });

  it('takes a commit of main, and refuses one that is not', async () => {
    const [origin, clone] = [join(folder, 'origin'), join(folder, 'clone')];
    const git = async (...args: readonly string[]): Promise<void> => {
      const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
      const { code, tail } = await run('git', [...who, ...args]);
      expect({ args, code, tail }).toEqual({ args, code: 0, tail });
    };
    await git('init', '--quiet', '--initial-branch=main', origin);
    await git('-C', origin, 'commit', '--quiet', '--allow-empty', '--message=released');
    await git('-C', origin, 'commit', '--quiet', '--allow-empty', '--message=later');
    await git('clone', '--quiet', origin, clone);
    const env = { GITHUB_REF_NAME: 'v1.2.3' };
    await git('-C', clone, 'checkout', '--quiet', '--detach', 'HEAD~1');
    expect(await runStep('on-main', { cwd: clone, env })).toEqual({ code: 0, tail: '' });
    await git('-C', clone, 'commit', '--quiet', '--allow-empty', '--message=aside');
    expect(await runStep('on-main', { cwd: clone, env })).toEqual({
      code: 1,
      tail: expect.stringContaining('expected the commit of v1.2.3 to be on main') as string,
    });
  });

  describe('the digests of the base images', () => {
    /** With a `docker` that runs `script`, as there is none; nor may there be a jq. */
    async function look(script: string) {
      const bin = join(folder, 'bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      writeFileSync(join(bin, 'jq'), `#!/bin/sh\ngrep -o 'sha256:[0-9a-f]*'\n`, { mode: 0o755 });
      const output = join(folder, 'output');
      rmSync(output, { force: true });
      const env = {
        PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
        GITHUB_OUTPUT: output,
        GITHUB_REF_NAME: 'v1.2.3',
      };
      const { code } = await runStep('bases', { cwd: ROOT, env });
      return { code, output: existsSync(output) ? readFileSync(output, 'utf8') : '' };
    }

    const DIGEST = 'echo \'{"digest":"sha256:1"}\'';

    it('are looked up for both, and that of Redis, and the version of Valkey in the first one', async () => {
      const { code, output } = await look(
        `[ "$1" != run ] || { echo "Version: 8.1.1 of $3" | sed 's/ of .*node:24.*@sha256:1$/-3/'; exit; }\n${DIGEST}`,
      );
      expect(code).toBe(0);
      expect(output).toMatch(
        /^version=1\.2\.3\nnode=\S+node:24\S+@sha256:1\nbase=\S+nonroot@sha256:1\nvalkey=8\.1\.1-3\nredis=sha256:1\n$/,
      );
    });

    it.each([
      ['Debian has none', `[ "$1" = run ] || ${DIGEST}`],
      ['Debian cannot be reached', `[ "$1" != run ] || exit 100\n${DIGEST}`],
    ])('the version is not made up when %s', async (_, script) => {
      const { code, output } = await look(script);
      expect(code).not.toBe(0);
      expect(output).not.toContain('valkey');
    });

    it.each([
      ['the registry refuses', 'exit 1'],
      ['the registry breaks off', 'echo \'{"digest":"sha256:1"}\'; exit 1'],
      ['the answer has no digest', "echo '{}'"],
    ])('are not made up when %s', async (_, script) => {
      const { code, output } = await look(script);
      expect(code).not.toBe(0);
      expect(output).not.toContain('@');
    });
  });
});
