import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ensureChromium } from '../../browser/chromium.ts';
import { CONFIG_MAP, NAMESPACE } from '../../demo/src/shop.ts';
import type { Shop } from './shop-scene.ts';

interface Picture {
  readonly file: string;
  readonly route: string;
  /** Something that is there when the page is complete. */
  readonly shows: string;
  readonly colors?: 'light' | 'dark';
  readonly size?: { readonly width: number; readonly height: number };
  readonly act?: (page: Page) => Promise<void>;
}

export interface Assignment {
  /** Of the dashboard, with a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly folder: string;
  readonly shop: Shop;
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
  };
  return [
    { file: 'overview', route: '', shows: 'Latest changes', act: watched },
    { file: 'overview-dark', route: '', shows: 'Latest changes', colors: 'dark' },
    { file: 'overview-phone', route: '', shows: 'Latest changes', size: PHONE },
    { file: 'change', route: `changes/${change}`, shows: 'Workloads' },
    { file: 'source', route: `sources/${source}`, shows: 'Dependent workloads' },
    { file: 'source-phone', route: `sources/${source}`, shows: 'Dependent workloads', size: PHONE },
    {
      file: 'workload-stuck',
      route: `workloads/Deployment/${NAMESPACE}/ledger`,
      shows: 'Annotations',
    },
    {
      file: 'explain-dark',
      route: `explain?workload=Deployment/${NAMESPACE}/reports&source=${source}`,
      shows: 'Rules, in order',
      colors: 'dark',
    },
  ];
}

/** Takes every picture, as `<file>.png` in the folder. */
export async function takePictures(assignment: Assignment): Promise<void> {
  const { log, shop, folder } = assignment;
  // Chromium's sandbox cannot be had by root in a container.
  const browser = await chromium.launch({
    executablePath: await ensureChromium(log),
    args: ['--no-sandbox'],
  });
  try {
    for (const picture of picturesOf(shop)) {
      await take(browser, picture, assignment);
      log(`${join(folder, picture.file)}.png`);
    }
  } finally {
    await browser.close();
  }
}

async function take(browser: Browser, picture: Picture, { url, token, folder }: Assignment): Promise<void> {
  const { file, route, shows, colors = 'light', size = WINDOW, act } = picture;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: colors,
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  await context.addInitScript(`sessionStorage.setItem('reroll-token', '${token}')`);
  const page = await context.newPage();
  await page.goto(`${url}#/${route}`);
  await page.getByRole('heading', { name: shows, exact: true }).waitFor();
  await act?.(page);
  while ((await page.locator('.loading').count()) > 0) await page.waitForTimeout(50);
  await page.screenshot({ path: join(folder, `${file}.png`) });
  await context.close();
}
