import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { ensureChromium } from '../../../tools/browser/chromium.ts';
import { cleanUp } from '../cleanup.ts';
import { eventually } from '../wait.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TOKEN_KEY = 'reroll-token';

/** A real Chromium; it ends with the test, or with the file. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = await ensureChromium((line) => console.log(line));
  // Chromium's sandbox cannot be had by root in a container.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  cleanUp(() => browser.close());
  return browser;
}

export interface ReaderOptions extends BrowserContextOptions {
  /** Where the dashboard is, with a slash at its end. */
  readonly url: string;
  /** Signed in with it from the beginning. */
  readonly token?: string;
}

/** Somebody with a browser window of their own, of which everything that must not happen is written down. */
export class Reader {
  readonly page: Page;
  readonly url: string;
  /** Messages of errors, violations of the Content-Security-Policy, and requests to anywhere else. */
  readonly offenses: string[] = [];

  private constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    const { origin } = new URL(url);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.offenses.push(message.text());
    });
    page.on('pageerror', (error) => this.offenses.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.offenses.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) this.offenses.push(`asked ${request.url()}`);
    });
  }

  static async open(browser: Browser, { url, token, ...options }: ReaderOptions): Promise<Reader> {
    const context = await browser.newContext(options);
    cleanUp(() => context.close());
    context.setDefaultTimeout(30_000);
    if (token !== undefined) {
      // Once a tab, so that somebody can sign out.
      const set = `if (location.origin !== 'null' && sessionStorage.getItem('reroll-once') === null) {
        sessionStorage.setItem('reroll-once', ''); sessionStorage.setItem('${TOKEN_KEY}', '${token}'); }`;
      await context.addInitScript(set);
    }
    return new Reader(await context.newPage(), url);
  }

  /** Goes to a route of the dashboard, e.g. `changes?state=failed`, and waits for its heading. */
  async visit(route: string, heading: string | RegExp): Promise<void> {
    await this.page.goto(`${this.url}#/${route}`);
    await this.heading(heading);
  }

  /** Resolves when a page with this heading is shown. */
  async heading(name: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: typeof name === 'string' }).waitFor();
  }

  /** Resolves when nothing on the page is being loaded. */
  async loaded(): Promise<void> {
    await eventually(async () => (await this.page.locator('.loading').count()) === 0, {
      what: 'everything to be loaded',
    });
  }

  /** Fails with what must not have happened; what the test provoked is let pass. */
  behaved(provoked?: RegExp): void {
    expect(this.offenses.filter((offense) => !provoked?.test(offense))).toEqual([]);
    this.offenses.length = 0;
  }

  /** Fails with what axe finds to be inaccessible, by all of its rules, with that of WCAG 2.2, or by these. */
  async accessible(rules?: readonly string[]): Promise<void> {
    if ((await this.page.evaluate('typeof axe')) === 'undefined') await this.page.evaluate(AXE);
    const all = { rules: { 'target-size': { enabled: true } } };
    const options = JSON.stringify(rules === undefined ? all : { runOnly: rules });
    const found = await this.page.evaluate<string[]>(
      `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) =>
        id + ': ' + nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary).join(', ')))`,
    );
    expect(found).toEqual([]);
  }

  /** By how many pixels the page is wider than the window. */
  async tooWideBy(): Promise<number> {
    return await this.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  }
}
