import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ensureChromium } from '../../browser/chromium.ts';
import { CONFIG_MAP, NAMESPACE } from '../../demo/src/shop.ts';
import { TOKEN } from './api.ts';
import { FLAGS, FLEET } from './fleet-scene.ts';
import type { Shop } from './shop-scene.ts';

interface Picture {
  readonly file: string;
  readonly route: string;
  /** Something that is there when the page is complete. */
  readonly shows: string;
  readonly colors?: 'light' | 'dark';
  readonly size?: { readonly width: number; readonly height: number };
  /** If it is not that of the others. */
  readonly folder?: keyof Assignment['folders'];
  /** Of this alone: a selector. */
  readonly only?: string;
  /** Beyond the window, too. */
  readonly isWhole?: boolean;
  readonly act?: (page: Page) => Promise<void>;
}

export interface Assignment {
  /** Of the dashboard, with a slash at its end. */
  readonly url: string;
  /** Of the pictures of the guide, and of those of every page. */
  readonly folders: { readonly guide: string; readonly pages: string };
  readonly shop: Shop;
  /** Id of the change of the fleet, once it has been there. */
  readonly fleetChange?: string;
  readonly log: (line: string) => void;
}

const WINDOW = { width: 1180, height: 740 };
const PHONE = { width: 360, height: 760 };

function picturesOf({ change, changeAgain }: Shop): readonly Picture[] {
  const source = `ConfigMap/${NAMESPACE}/${CONFIG_MAP}`;
  const watched = async (page: Page): Promise<void> => {
    await page.getByText('Connected', { exact: true }).waitFor();
    await changeAgain();
    await page.getByText('storefront in shop rolled out').waitFor();
    await page.locator('.badge', { hasText: '5 rolled out' }).first().waitFor();
    await page.locator('.verdict', { hasText: 'in progress' }).waitFor({ state: 'detached' });
  };
  return [
    { file: 'overview', route: '', shows: 'Latest changes', act: watched },
    { file: 'overview-dark', route: '', shows: 'Latest changes', colors: 'dark', act: explained },
    { file: 'overview-phone', route: '', shows: 'Latest changes', size: PHONE, act: explained },
    { file: 'change', route: `changes/${change}`, shows: 'Workloads' },
    { file: 'source', route: `sources/${source}`, shows: 'Dependent workloads' },
    {
      file: 'workload-stuck',
      route: `workloads/Deployment/${NAMESPACE}/ledger`,
      shows: 'Annotations',
    },
    { file: 'bulk', route: `workloads?namespace=${NAMESPACE}`, shows: 'Workloads', act: openBulk },
    {
      file: 'explain-dark',
      route: `explain?workload=Deployment/${NAMESPACE}/reports&source=${source}`,
      shows: 'Rules, in order',
      colors: 'dark',
    },
  ];
}

/** Waits until the overview tells why the rollout is stuck. */
async function explained(page: Page): Promise<void> {
  await page.getByText('ProgressDeadlineExceeded').waitFor();
}

/** Every page, as a whole, light and dark. */
function picturesOfPages({ shop, fleetChange = '' }: Assignment): readonly Picture[] {
  const flags = `ConfigMap/${FLEET}/${FLAGS}`;
  const stuck = `Deployment/${NAMESPACE}/ledger`;
  const pages: readonly Picture[] = [
    { file: 'overview', route: '', shows: 'Latest changes', act: selectTime },
    { file: 'changes', route: 'changes', shows: 'Timeline' },
    { file: 'change', route: `changes/${shop.change}`, shows: 'Workloads' },
    { file: 'change-waves', route: `changes/${fleetChange}`, shows: 'Waves' },
    { file: 'workloads', route: 'workloads', shows: 'Workloads' },
    { file: 'workload-stuck', route: `workloads/${stuck}`, shows: 'Annotations' },
    { file: 'workload-held', route: `workloads/Deployment/${FLEET}/service-008`, shows: 'Annotations' },
    { file: 'sources', route: 'sources', shows: 'Sources' },
    { file: 'source', route: `sources/ConfigMap/${NAMESPACE}/${CONFIG_MAP}`, shows: 'History' },
    { file: 'source-many', route: `sources/${flags}`, shows: 'Dependent workloads', act: askSource },
    { file: 'jobs', route: 'jobs', shows: 'Queues' },
    { file: 'audit', route: 'audit', shows: 'Audit' },
    {
      file: 'explain',
      route: `explain?workload=${stuck}&source=ConfigMap/${NAMESPACE}/ledger`,
      shows: 'Rules, in order',
    },
    { file: 'preview', route: `preview?of=source&source=${flags}`, shows: 'Preview', act: askPreview },
    { file: 'search', route: 'search?q=check', shows: 'Sources' },
    { file: 'suggestions', route: 'audit', shows: 'Audit', act: typeSearch },
    { file: 'namespaces', route: 'audit', shows: 'Audit', act: openNamespaces },
    { file: 'namespace', route: `?namespace=${NAMESPACE}`, shows: 'Latest changes', act: explained },
    { file: 'bulk', route: `workloads?namespace=${NAMESPACE}`, shows: 'Workloads', act: openBulk },
    { file: 'bulk-done', route: `workloads?namespace=${NAMESPACE}`, shows: 'Workloads', act: doBulk },
    { file: 'nothing', route: 'workloads?name=nothing', shows: 'Workloads' },
  ];
  const waves: Picture = {
    file: 'change-waves',
    route: `changes/${fleetChange}`,
    shows: 'Waves',
    folder: 'guide',
  };
  const many = { file: 'source-many', route: `sources/${flags}`, shows: 'Dependent workloads' };
  const forGuide: Picture = { ...many, folder: 'guide', only: '.picture', act: openGroup };
  const all = pages.flatMap((page): Picture[] => [
    { ...page, file: `${page.file}-light`, isWhole: true },
    { ...page, file: `${page.file}-dark`, isWhole: true, colors: 'dark' as const },
    { ...page, file: `${page.file}-phone`, isWhole: true, size: PHONE },
  ]);
  // When all that waits has been looked at again.
  return [...all, waves, forGuide];
}

async function selectTime(page: Page): Promise<void> {
  await page.getByRole('slider', { name: 'From' }).press('End');
  for (let presses = 0; presses < 20; presses += 1) {
    await page.getByRole('slider', { name: 'From' }).press('ArrowLeft');
  }
  await page.getByRole('button', { name: 'Clear selection' }).waitFor();
}

async function typeSearch(page: Page): Promise<void> {
  await page.getByLabel('Search workloads and sources').fill('o');
  await page.getByRole('option', { name: 'storefront' }).waitFor();
  await page.keyboard.press('ArrowDown');
}

async function openNamespaces(page: Page): Promise<void> {
  await page.getByLabel('Namespace').click();
  await page.getByRole('option', { name: NAMESPACE, exact: true }).waitFor();
}

async function openBulk(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Reload all' }).click();
  await page.getByText(/^Dry run: \d+ workloads match/).waitFor();
}

/** Only what it looks like: nothing is reloaded. */
async function doBulk(page: Page): Promise<void> {
  await openBulk(page);
  await page.route('**/api/v1/bulk/reload', async (route) => {
    const items = ['checkout', 'orders', 'storefront'].map((name, at) => ({
      target: `Deployment/${NAMESPACE}/${name}`,
      id: null,
      result: at === 0 ? 'refused' : 'done',
      accepted: null,
      problem: at === 0 ? { code: 'Forbidden', detail: 'expected the right to patch it' } : null,
    }));
    await route.fulfill({ json: { plan: '', dryRun: false, items } });
  });
  await page.getByLabel('Reason').fill('new CA');
  await page.getByRole('dialog').getByRole('button', { name: 'Reload all' }).click();
  await page.getByRole('dialog').getByText('3 workloads: ').waitFor();
}

async function openGroup(page: Page): Promise<void> {
  // They are grouped anew when it is known that they are held.
  await page.locator('.tree summary', { hasText: 'held' }).click();
  // It would point to another group when the page scrolls.
  await page.mouse.move(0, 0);
}

async function askSource(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('button', { name: 'Check' }).click();
  await openGroup(page);
}

async function askPreview(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('heading', { name: 'What would happen' }).waitFor();
}

/** Takes every picture of a folder, as `<file>.png` in it. */
export async function takePictures(assignment: Assignment, of: keyof Assignment['folders']): Promise<void> {
  const { log, shop, folders } = assignment;
  // Chromium's sandbox cannot be had by root in a container.
  const browser = await chromium.launch({
    executablePath: await ensureChromium(log),
    args: ['--no-sandbox'],
  });
  try {
    for (const picture of of === 'guide' ? picturesOf(shop) : picturesOfPages(assignment)) {
      const path = join(folders[picture.folder ?? of], `${picture.file}.png`);
      await take(browser, picture, { url: assignment.url, path });
      log(path);
    }
  } finally {
    await browser.close();
  }
}

async function take(
  browser: Browser,
  picture: Picture,
  { url, path }: { url: string; path: string },
): Promise<void> {
  const { route, shows, colors = 'light', size = WINDOW, isWhole = false, only, act } = picture;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: colors,
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  await context.addInitScript(`sessionStorage.setItem('reroll-token', '${TOKEN}')`);
  const page = await context.newPage();
  await page.goto(`${url}#/${route}`);
  await page.getByRole('heading', { name: shows, exact: true }).first().waitFor();
  await act?.(page);
  while ((await page.locator('.loading').count()) > 0) await page.waitForTimeout(50);
  if (only === undefined) await page.screenshot({ path, fullPage: isWhole });
  else await page.locator(only).screenshot({ path });
  await context.close();
}
