import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { invariant, orThrow } from '@holdfast/protocol'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openHoldfast } from '../packages/holdfast/src/entry/index.ts'
import { createSecret, hashToken, openServer } from '../packages/holdfast/src/server/index.ts'
import { openBrowser } from '../test/e2e/browser.ts'
import { median } from './median.ts'
import { type Delays, type Frames, frames, inputDelays, observe, openedMs, paintMs, scrollUp } from './page/in-page.ts'
import { longConversation } from './page/long-conversation.ts'
import { createPageModel, deltasPerSecond, longPrompt } from './page/model.ts'
import { kilobytes, number, printRows, type Row } from './table.ts'

const pageDir = resolve(import.meta.dirname, '../packages/web/dist')
const turns = 5000 // a prompt and an answer each
const lastAnswer = `Answer ${turns - 1}`
const rounds = 5
const frameMsMax = 50

/** Opens a server on a store with one long session, in this process; the browser is one of its own. */
async function openLongSession(dir: string) {
  const holdfast = await openHoldfast({
    store: `sqlite:${join(dir, 'page.db')}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/model': createPageModel() },
  })
  const [imported] = await holdfast.import({ name: 'long.jsonl', bytes: longConversation(turns, dir) })
  const session = await holdfast.getSession(imported?.session ?? '')
  await session.setModel('bench/model')
  const server = orThrow(
    await openServer({
      host: '127.0.0.1',
      port: 0,
      version: '0',
      pageDir,
      sessions: holdfast.handles,
      now: Date.now,
      tokens: [{ hash: hashToken(createSecret()), role: 'admin' }],
      onProblem: (problem) => process.stderr.write(`${JSON.stringify(problem)}\n`),
    }),
  )
  return { holdfast, server, session: session.id }
}

/** Loads the page once without a cache. Returns what its first load weighs, compressed. */
async function firstLoadBytes(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage()
  const sizes: Promise<number>[] = []
  page.on('response', (response) => {
    const isFile = !new URL(response.url()).pathname.startsWith('/v1/')
    if (isFile && response.ok()) sizes.push(response.body().then((body) => gzipSync(body).length))
  })
  await page.goto(url, { waitUntil: 'networkidle' }).catch(() => undefined) // the news stream never ends
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  await page.close()
  return bytes
}

/** Runs `measure` in fresh profiles that are logged in and have nothing in their cache. */
async function onTabs(browser: Browser, login: Login, url: string, measure: (page: Page) => Promise<number>) {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ storageState: login, viewport })
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    found.push(await measure(page))
    await context.close()
  }
  return median(found)
}

type Login = Awaited<ReturnType<BrowserContext['storageState']>>
const viewport = { width: 1280, height: 800 }

/** Scrolls from the end through older pages. Returns the longest frame, and how many messages were passed. */
async function measureScroll(context: BrowserContext, address: string) {
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('log').getByText(lastAnswer, { exact: true }).waitFor()
  await page.evaluate(observe)
  await page.evaluate(scrollUp(600))
  const found: Frames = await page.evaluate(frames(frameMsMax))
  await page.close()
  return found
}

/** Types while an answer streams. Returns the delays of the keys, and the longest frame. */
async function measureTyping(context: BrowserContext, address: string) {
  const page = await context.newPage()
  await page.goto(address)
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.fill(longPrompt)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
  await page.evaluate(observe)
  for (const letter of 'the quick brown fox jumps over the lazy dog'.repeat(2)) {
    await page.keyboard.press(letter === ' ' ? 'Space' : letter)
    await page.waitForTimeout(50)
  }
  const delays: Delays = await page.evaluate(inputDelays)
  const found: Frames = await page.evaluate(frames(frameMsMax))
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.close()
  return { delays, frames: found }
}

async function measure(browser: Browser, dir: string): Promise<readonly Row[]> {
  const { holdfast, server, session } = await openLongSession(dir)
  try {
    const context = await browser.newContext({ viewport })
    const first = await context.newPage()
    await first.goto(server.loginLink())
    await first.close()
    const login = await context.storageState()
    const hash = `#/s/${session}`
    const bytes = await firstLoadBytes(context, server.url)
    const paint = await onTabs(browser, login, server.url, (page) => page.evaluate<number>(paintMs))
    const opened = await onTabs(browser, login, server.url, (page) => page.evaluate<number>(openedMs(hash, lastAnswer)))
    const scroll = await measureScroll(context, `${server.url}/${hash}`)
    const typing = await measureTyping(context, `${server.url}/${hash}`)
    return [
      row('first load, gzipped', kilobytes(bytes), '< 350 KB', bytes < 350 * 1024),
      row('first paint', `${number(paint)} ms`, '< 300 ms', paint < 300),
      row(`open a session of ${number(2 * turns)} messages`, `${number(opened)} ms`, '< 200 ms', opened < 200),
      frameRow('scroll through 600 frames', scroll),
      row(
        `input delay at ${number(deltasPerSecond)} deltas/s`,
        `${number(typing.delays.longest)} ms, median ${number(typing.delays.median)} ms of ${typing.delays.count}`,
        '< 50 ms',
        typing.delays.longest < frameMsMax,
      ),
      frameRow(`frames at ${number(deltasPerSecond)} deltas/s`, typing.frames),
    ]
  } finally {
    await server.close()
    await holdfast.close()
  }
}

const row = (what: string, figure: string, goal: string, holds: boolean): Row => ({ what, figure, goal, holds })

const frameRow = (what: string, { count, long, longest }: Frames): Row =>
  row(
    what,
    `longest ${number(longest)} ms; ${long} of ${count} over ${frameMsMax} ms`,
    `none over ${frameMsMax} ms`,
    long === 0,
  )

invariant(existsSync(pageDir), 'the page is built: npm run build --workspace @holdfast/web')
const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-page-'))
const browser = await openBrowser()
try {
  const rows = await measure(browser, dir)
  printRows(rows)
  process.stdout.write(
    `load of the machine at the end: ${loadavg()
      .map((load) => number(load, 1))
      .join(', ')}\n`,
  )
  if (rows.some(({ holds }) => holds === false)) process.exitCode = 1
} finally {
  await browser.close()
  rmSync(dir, { recursive: true, force: true })
}
