import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** Flags of the package that tests do without: one process, and a graphics card in software, which takes most of the time. */
const unwanted =
  /^--(headless|single-process|disable-web-security|allow-running|in-process-gpu|use-|ignore-gpu|enable-unsafe)/

/** A real Chromium, from npm, with no network but loopback. */
export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [
      ...chromium.args.filter((arg) => !unwanted.test(arg)),
      '--disable-gpu',
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    headless: true,
  })
}
